import assert from 'node:assert/strict';
import { LIMITS, type PrunePolicy } from '../../contract/index.js';
import { newAppointment, newRequest, QUEUES, repeatedRequest } from './requests.js';
import { repeatSettle, settle } from './settle-steps.js';
import type { Step, Walk } from './walk.js';

/** Where the storage's clock cannot be moved: longer than every delay that is meant to pass (see `anyDelay`). */
const SURE_TO_BE_DUE_MS = 40;
const LEASE_MS = 3_600_000;

const enqueue: Step = async (walk) => {
  const { random } = walk;
  const size = random.chance(0.7) ? 1 : random.between(2, 6);
  const requests = Array.from({ length: size }, () => {
    const repeated = random.chance(0.1) ? repeatedRequest(walk) : undefined;
    return repeated ?? (random.chance(0.1) ? newAppointment(walk) : newRequest(walk));
  });
  if (random.chance(0.05)) requests.push(requests[0]!);
  walk.unsettled();
  const expected = walk.model.enqueue(requests);
  if ('refused' in expected) await walk.same(walk.bench.adapter.enqueue(requests), expected);
  else {
    const value = expected.value.map((outcome) => {
      const { queue, type } = walk.model.find(outcome.id)!.request;
      return { ...outcome, queue, type };
    });
    await walk.same(walk.bench.adapter.enqueue(requests), { value });
    if (value.some(({ created }) => created)) walk.settled();
    if (random.chance(0.3)) await walk.see(random.pick(value).id);
  }
  return `${requests.map(({ id }) => id).join(' ')} -> ${'refused' in expected ? expected.refused : 'taken'}`;
};

const claim: Step = async (walk) => {
  const { random, model, bench } = walk;
  if (!walk.exact) await advance(walk, SURE_TO_BE_DUE_MS);
  const queue = random.pick(QUEUES);
  const limit = random.chance(0.9) ? random.between(1, 4) : 200;
  walk.unsettled();
  const records = await bench.claim({ queue, limit, leaseMs: LEASE_MS, owner: 'walk' });
  model.claim(queue, limit, records);
  for (const record of records) walk.leased(record);
  return `${limit} of ${queue} -> ${records.map(({ id, epoch }) => `${id}@${epoch}`).join(' ') || 'nothing'}`;
};

const extend: Step = async (walk) => {
  const leases = [walk.anyLease(), walk.anyLease()].filter((lease) => lease !== undefined);
  const value = leases.map((lease) => walk.model.extend(lease));
  await walk.same(
    walk.bench.adapter.extend(
      leases.map((lease) => ({ lease })),
      LEASE_MS,
    ),
    { value },
  );
  return leases.map(({ id, epoch }, i) => `${id}@${epoch} ${value[i]}`).join(', ');
};

const cancel: Step = async (walk) => {
  const id = anyJob(walk);
  const before = walk.model.find(id);
  const unchanged = before === undefined || before.cancelRequested;
  const expected = walk.model.cancel(id);
  await walk.same(walk.bench.adapter.cancel(id).then(seen(walk)), expected);
  if ('value' in expected && !unchanged) walk.settled();
  return `${id} -> ${'value' in expected ? walk.model.find(id)!.state : expected.refused}`;
};

const redrive: Step = async (walk) => {
  const dead = walk.model.jobs.filter(({ state }) => state === 'dead');
  const id = dead.length > 0 && walk.random.chance(0.8) ? walk.random.pick(dead).id : anyJob(walk);
  const expected = walk.model.redrive(id);
  await walk.same(walk.bench.adapter.redrive(id).then(seen(walk)), expected);
  if ('value' in expected) walk.settled();
  return `${id} -> ${'value' in expected ? 'ready' : expected.refused}`;
};

const prune: Step = async (walk) => {
  const { random, model, bench } = walk;
  const policy: PrunePolicy = {
    keepFinished: random.chance(0.7) ? random.between(1, 20) : 0,
    keepFinishedMs: anyAge(walk),
    keepDeadMs: anyAge(walk),
  };
  const value = model.prunable(policy);
  await walk.same(bench.adapter.prune(policy), { value });
  const kept = new Set((await bench.all()).map(({ id }) => id));
  const gone = new Set(model.jobs.map(({ id }) => id).filter((id) => !kept.has(id)));
  assert.equal(gone.size, value, 'as many jobs are gone as prune said');
  for (const id of gone) walk.forgotten.push(model.find(id)!.request);
  model.forget(gone);
  await walk.checkAll();
  return `${JSON.stringify(policy)} -> ${value}`;
};

const list: Step = async (walk) => {
  const { random, model, bench } = walk;
  const state = random.chance(0.5) ? random.pick(['delayed', 'ready', 'active', 'done', 'dead', 'cancelled'] as const) : undefined;
  const queue = random.chance(0.5) ? random.pick(QUEUES) : undefined;
  const limit = random.chance(0.9) ? random.between(1, 20) : LIMITS.list;
  const query = { limit, ...(state && { state }), ...(queue && { queue }) };
  const expected = model.jobs.filter((job) => (!state || job.state === state) && (!queue || job.request.queue === queue));
  const records = await bench.all(query);
  assert.deepEqual(
    records.map(({ id }) => id),
    expected.map(({ id }) => id).sort(),
    'list()',
  );
  for (const record of records) walk.observe(record);
  return `${JSON.stringify(query)} -> ${records.length}`;
};

const wait: Step = async (walk) => {
  const { random, exact } = walk;
  const ms = exact ? random.pick([1, random.between(2, 100), random.between(101, 3000), 3_600_001, 2 ** 31 + 7]) : 1;
  await advance(walk, ms);
  return `${ms} ms`;
};

const jumpWall: Step = async (walk) => {
  if (!walk.exact) return 'the clock is not ours';
  // Forward only: after a jump back two openings in a row may count the rest of a delay differently, and both keep the rules.
  const ms = walk.random.pick([walk.random.between(1, 1000), 600_000, 86_400_000]);
  await walk.bench.jumpWall(ms);
  walk.model.jumpWall(ms);
  return `+${ms} ms`;
};

const crash: Step = async (walk) => {
  if (!walk.bench.capabilities.persistent) return 'would lose everything';
  await giveBack(walk);
  await walk.bench.crash();
  return walk.hasCrashed();
};

const reopen: Step = async (walk) => {
  if (!walk.bench.capabilities.persistent) return 'would lose everything';
  await giveBack(walk);
  await walk.bench.reopen();
  await walk.wasReopened();
  return 'nothing is missing';
};

export const STEPS = { enqueue, claim, settle, repeatSettle, extend, cancel, redrive, prune, list, wait, jumpWall, crash, reopen };

export const WEIGHTS: Readonly<Record<keyof typeof STEPS, number>> = {
  ...{ enqueue: 18, claim: 20, settle: 26, repeatSettle: 5, extend: 3, cancel: 4, redrive: 3 },
  ...{ prune: 2, list: 2, wait: 8, jumpWall: 0.5, crash: 1, reopen: 0.5 },
};

async function advance(walk: Walk, ms: number): Promise<void> {
  await walk.bench.advance(ms);
  walk.model.advance(ms);
}

/** Leases of a shared storage outlive a client, and end at a moment that only its server knows: they are given back before. */
async function giveBack(walk: Walk): Promise<void> {
  if (!walk.bench.capabilities.shared) return;
  for (const { id, epoch } of walk.model.jobs.filter(({ state }) => state === 'active')) {
    await walk.same(walk.bench.adapter.release({ id, epoch }), walk.model.release({ id, epoch }, 0));
  }
  await walk.checkAll();
}

/** The job that a verb resolved with is the job as the model has it now. */
function seen(walk: Walk): (record: Parameters<Walk['observe']>[0]) => void {
  return (record) => walk.observe(record);
}

function anyJob({ random, model }: Walk): string {
  return model.jobs.length === 0 || random.chance(0.03) ? 'nobody' : random.pick(model.jobs).id;
}

/** A limit of age that no job stands at: on one side of it, or on the other. 0 = no limit. */
function anyAge({ random, model, exact }: Walk): number {
  const ms = random.pick([0, 0, 2000, 1_800_000, 7_200_000]);
  const uncertain = model.jobs.some(({ finished }) => {
    return finished !== null && model.mono - finished.latest <= ms && model.mono - finished.earliest >= ms;
  });
  return uncertain || !exact ? 0 : ms;
}
