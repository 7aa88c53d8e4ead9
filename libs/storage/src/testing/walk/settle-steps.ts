import type { JobError, Lease, NackDisposition, RequeueReason, StorageAdapter } from '../../contract/index.js';
import type { Answer, Model } from '../model.js';
import { anyDelay } from './requests.js';
import type { Step, Walk } from './walk.js';

/** One call of a worker or of its pool, kept so that it can be made again. */
interface SettleCall {
  readonly line: string;
  readonly lease: Lease;
  /** It resolves when it is durable; release and requeue resolve earlier. */
  readonly durable: boolean;
  readonly ask: (adapter: StorageAdapter) => Promise<void>;
  readonly judge: (model: Model) => Answer<void>;
}

const REMEMBERED_CALLS = 20;
const calls = new WeakMap<Walk, SettleCall[]>();

export const settle: Step = async (walk) => {
  const lease = walk.anyLease();
  if (lease === undefined) return 'no lease yet';
  const call = anyCall(walk, walk.random.chance(0.03) ? { ...lease, epoch: lease.epoch + 1 } : lease);
  const made = calls.get(walk) ?? [];
  calls.set(walk, [...made, call].slice(-REMEMBERED_CALLS));
  return perform(walk, call);
};

/** A worker whose answer was lost asks again (R4), mostly at once. */
export const repeatSettle: Step = async (walk) => {
  const made = calls.get(walk);
  if (made === undefined) return 'nothing to repeat';
  return perform(walk, walk.random.chance(0.6) ? made[made.length - 1]! : walk.random.pick(made));
};

async function perform(walk: Walk, call: SettleCall): Promise<string> {
  const held = walk.model.extend(call.lease) !== 'lost';
  if (held) walk.unsettled();
  const expected = call.judge(walk.model);
  await walk.same(call.ask(walk.bench.adapter), expected);
  const done = 'value' in expected;
  if (held && done && call.durable) walk.settled();
  // What the storage alone decides (a requeue's epoch and wait) is learnt at once; the rest is also left unseen, as workers leave it.
  if (!call.durable || walk.random.chance(0.5)) await walk.see(call.lease.id);
  return `${call.line} -> ${done ? 'done' : expected.refused}`;
}

function anyCall(walk: Walk, lease: Lease): SettleCall {
  const verb = walk.random.weighted({ ack: 5, nack: 5, release: 3, requeue: 4 });
  const call = { ack: ackCall, nack: nackCall, release: releaseCall, requeue: requeueCall }[verb](walk, lease);
  return { ...call, lease, line: `${verb} ${lease.id}@${lease.epoch} ${call.line}` };
}

type CallParts = Omit<SettleCall, 'lease'>;

function ackCall({ random }: Walk, lease: Lease): CallParts {
  const result = random.pick([null, '', '{"ok":true}']);
  return { line: String(result), durable: true, ask: (adapter) => adapter.ack(lease, result), judge: (model) => model.ack(lease, result) };
}

function nackCall(walk: Walk, lease: Lease): CallParts {
  const { random } = walk;
  const error: JobError = { code: random.pick(['failed', 'timeout', 'crashed']), message: random.pick(['no', 'not now']) };
  const disposition: NackDisposition = random.chance(0.2) ? { dead: true } : { retryInMs: anyDelay(walk) };
  return {
    line: JSON.stringify([error, disposition]),
    durable: true,
    ask: (adapter) => adapter.nack(lease, error, disposition),
    judge: (model) => model.nack(lease, error, disposition),
  };
}

function releaseCall(walk: Walk, lease: Lease): CallParts {
  const inMs = walk.random.chance(0.5) ? 0 : anyDelay(walk);
  return {
    line: String(inMs),
    durable: false,
    ask: (adapter) => adapter.release(lease, inMs === 0 ? {} : { inMs }),
    judge: (model) => model.release(lease, inMs),
  };
}

function requeueCall({ random }: Walk, lease: Lease): CallParts {
  const reason: RequeueReason = random.pick(['hung', 'lease_expired']);
  return { line: reason, durable: false, ask: (adapter) => adapter.requeue(lease, reason), judge: (model) => model.requeue(lease, reason) };
}
