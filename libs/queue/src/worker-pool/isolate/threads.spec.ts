import { IsolateFixture } from './isolate.fixture.js';

describe('A thread handler', () => {
  let fixture: IsolateFixture;
  beforeEach(async () => {
    fixture = await IsolateFixture.create();
  });
  afterEach(() => fixture.close());

  it('is given its job and its context, and what it returns is the result', async () => {
    fixture.handler('echo', `export const handle = async (job, ctx) => ({ payload: job.payload, attempt: ctx.attempt, epoch: ctx.epoch })`);
    const job = await fixture.done(await fixture.enqueue('echo', { payload: { text: 'hello' } }));
    expect(JSON.parse(job.result!)).toEqual({ payload: { text: 'hello' }, attempt: 1, epoch: job.epoch });
  });

  it('runs outside of this thread, and in the same one again', async () => {
    fixture.handler('where', `import { threadId } from 'node:worker_threads'; export const handle = () => threadId`);
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await fixture.done(await fixture.enqueue('where'))).result);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe('0');
  });
});
