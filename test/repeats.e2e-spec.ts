import { describe, expect, it } from '@jest/globals';
import { listAll, ServiceFixture, statsOf, type Answer, type JobView, type ServiceProcess } from './harness/index.js';
import { JobClient } from './harness/job-client.js';

const AT_ONCE = 50;
const orchd = new ServiceFixture();

type Sent = (service: ServiceProcess, workMs: number) => Promise<Answer<JobView>>;

/** Two ways to name a job, so that a repetition is known as one. */
const WAYS: [string, Sent][] = [
  ['an id', (service, work_ms) => service.post<JobView>('/jobs', { id: 'twin', work_ms })],
  ['an Idempotency-Key', (service, work_ms) => service.post<JobView>('/jobs', { work_ms }, { 'idempotency-key': 'twin' })],
];

describe.each(WAYS)('%s sent fifty times at once, with one body or the other', (_way, send) => {
  it('makes one job: its own body is answered with it, the other with 409, also when it is done and after a restart', async () => {
    const dataDir = orchd.folder();
    let service = await orchd.start({ dataDir });
    const bodies = Array.from({ length: AT_ONCE }, (_, n) => 1 + (n % 2));
    const answers = await Promise.all(bodies.map((body) => send(service, body)));

    const [first] = answers.filter(({ status }) => status === 201);
    const winner = bodies[answers.indexOf(first!)]!;
    const { id } = first!.body;
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const [index, { status, body }] of answers.entries()) {
      if (bodies[index] === winner) expect({ ok: status === 200 || status === 201, id: body.id }).toEqual({ ok: true, id });
      else expect({ status, body }).toMatchObject({ status: 409, body: { code: 'conflict' } });
    }

    await new JobClient(service).reached(id, 'done');
    await expectSameAnswers(service, send, winner, id);
    await service.kill();
    service = await orchd.start({ dataDir });
    await expectSameAnswers(service, send, winner, id);
    expect(await listAll(service)).toMatchObject([{ id, state: 'done', starts: 1 }]);
    expect(await statsOf(service)).toMatchObject({ jobs: 1, done: 1, submitted: 0 });
  });
});

async function expectSameAnswers(service: ServiceProcess, send: Sent, winner: number, id: string): Promise<void> {
  expect(await send(service, winner)).toMatchObject({ status: 200, body: { id, state: 'done' } });
  expect(await send(service, 3 - winner)).toMatchObject({ status: 409, body: { code: 'conflict' } });
}
