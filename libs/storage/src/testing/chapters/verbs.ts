import type { StorageAdapter } from '../../contract/index.js';

const LEASE = { id: 'nobody', epoch: 1 };

/** Every verb of the contract, called in a way that is always well-formed. */
export const VERBS: Readonly<Record<string, (adapter: StorageAdapter) => Promise<unknown>>> = {
  enqueue: (adapter) => adapter.enqueue([{ queue: 'default', type: 'kit', payload: '{}' }]),
  claim: (adapter) => adapter.claim({ queue: 'default', limit: 1, owner: 'kit', leaseMs: 1000 }),
  extend: (adapter) => adapter.extend([{ lease: LEASE }], 1000),
  ack: (adapter) => adapter.ack(LEASE),
  nack: (adapter) => adapter.nack(LEASE, { code: 'failed', message: 'no' }, { retryInMs: 0 }),
  release: (adapter) => adapter.release(LEASE),
  requeue: (adapter) => adapter.requeue(LEASE, 'hung'),
  reap: (adapter) => adapter.reap(1),
  get: (adapter) => adapter.get('nobody'),
  list: (adapter) => adapter.list(),
  counts: (adapter) => adapter.counts(),
  cancel: (adapter) => adapter.cancel('nobody'),
  redrive: (adapter) => adapter.redrive('nobody'),
  prune: (adapter) => adapter.prune({ keepFinishedMs: 0, keepFinished: 0, keepDeadMs: 0 }),
};
