import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLoadgen, withServers } from './run.fixture.js';

describe('a failed submit', () => {
  it('is repeated after a 503 with the same key and the same body', () =>
    withServers(1, async (queue, server) => {
      server.onSubmit = ({ call }) => (call <= 3 ? { status: 503, body: { code: 'starting' } } : undefined);

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '1']);

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 1 });
      expect(queue.submits).toHaveLength(4);
      expect(new Set(queue.submits.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    }));

  it('waits as long as Retry-After asks', () =>
    withServers(1, async (_queue, server) => {
      server.onSubmit = ({ call }) => (call === 1 ? { status: 503, headers: { 'retry-after': '1' } } : undefined);

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '1']);

      expect(code).toBe(0);
      expect(result.submit_s).toBeGreaterThanOrEqual(0.99);
    }));

  it('is repeated after a connection that ended in the middle of the answer, and is one job', () =>
    withServers(1, async (queue, server) => {
      server.onSubmit = ({ call }) => (call % 3 === 1 ? 'cut' : undefined);

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '30', '--clients', '4']);

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 30 });
      expect(queue.jobs.size).toBe(30);
      expect(queue.submits.length).toBeGreaterThan(30);
    }));

  it('is repeated when the server was killed and started again meanwhile', () =>
    withServers(1, async (queue, server) => {
      server.onSubmit = async ({ call }) => {
        if (call % 20 !== 0) return undefined;
        await server.kill();
        await server.start();
        return 'silence';
      };

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '100', '--clients', '8']);

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 100 });
      expect(queue.jobs.size).toBe(100);
    }));

  it.each([
    [400, 'invalid_field'],
    [413, 'too_large'],
    [500, 'internal'],
  ])('is not repeated after %i: the run ends with 1 and names %s', (status, errorCode) =>
    withServers(1, async (queue, server) => {
      server.onSubmit = ({ call }) => (call > 2 ? { status, body: { code: errorCode, message: 'what is wrong' } } : undefined);

      const { code, result, stderr } = await runLoadgen(['--url', server.url, '--jobs', '100', '--clients', '1']);

      expect(code).toBe(1);
      expect(queue.submits).toHaveLength(3);
      expect(stderr).toContain(`${status} ${errorCode}: what is wrong`);
      expect(result).toMatchObject({ jobs: 100, done: 2 });
    }),
  );

  it('ends the other clients too when it is refused', () =>
    withServers(1, async (queue, server) => {
      server.onSubmit = ({ call }) => (call === 5 ? { status: 400 } : undefined);

      const { code, stderr } = await runLoadgen(['--url', server.url, '--jobs', '1000', '--clients', '4']);

      expect(code).toBe(1);
      expect(queue.submits.length).toBeLessThan(50);
      expect(stderr).toContain('not acked');
    }));

  it('counts as refused when the ack has no id', () =>
    withServers(1, async (_queue, server) => {
      server.onSubmit = () => ({ status: 201, body: { state: 'ready' } });

      const { code, stderr } = await runLoadgen(['--url', server.url, '--jobs', '1']);

      expect(code).toBe(1);
      expect(stderr).toContain('201');
    }));
});

describe('the audit', () => {
  it('exits 1 and names the id when an acked job is gone', () =>
    withServers(1, async (queue, server) => {
      server.onStats = () => void queue.jobs.delete('job-7');

      const { code, result, stderr } = await runLoadgen(['--url', server.url, '--jobs', '20']);

      expect(code).toBe(1);
      expect(result).toMatchObject({ done: 19, completion_pct: 95 });
      expect(stderr).toContain('1 acked, then lost: job-7');
    }));

  it('exits 1 when an acked job is gone at the time-out too', () =>
    withServers(1, async (queue, server) => {
      queue.outcome = () => ({ state: 'active' });
      server.onStats = () => void queue.jobs.delete('job-0');

      const { code, stderr } = await runLoadgen(['--url', server.url, '--jobs', '2', '--timeout-s', '0.2']);

      expect(code).toBe(1);
      expect(stderr).toContain('1 acked, then lost: job-0');
    }));

  it('exits 1 when two submits were given the same id', () =>
    withServers(1, async (_queue, server) => {
      server.onSubmit = ({ call }) => (call > 1 ? { status: 201, body: { id: 'job-0', state: 'ready' } } : undefined);

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '2', '--clients', '1']);

      expect(code).toBe(1);
      expect(result).toMatchObject({ done: 1 });
    }));

  it('exits 1 when a job is unfinished although the queue was empty', () =>
    withServers(1, async (queue, server) => {
      queue.outcome = (n) => ({ state: n === 2 ? 'ready' : 'done' });
      server.onStats = () => ({ status: 200, body: { ready: 0, delayed: 0, active: 0 } });

      const { code, stderr } = await runLoadgen(['--url', server.url, '--jobs', '5']);

      expect(code).toBe(1);
      expect(stderr).toContain('job-2');
    }));

  it('exits 1 when a job that was shown as done is unfinished at the time-out', () =>
    withServers(1, async (queue, server) => {
      server.onStats = () => {
        for (const job of queue.jobs.values()) job.state = 'active';
        return undefined;
      };

      const { code, stderr } = await runLoadgen(['--url', server.url, '--jobs', '1', '--timeout-s', '0.3']);

      expect(code).toBe(1);
      expect(stderr).toContain('1 shown as final, then unfinished: job-0');
    }));

  it('asks again when a restart lies between the empty queue and an unfinished job', () =>
    withServers(1, async (queue, server) => {
      queue.outcome = () => ({ state: 'active' });
      let restarted = false;
      server.onStats = () => {
        if (restarted) for (const job of queue.jobs.values()) job.state = 'done';
        return restarted ? undefined : { status: 200, body: { ready: 0, delayed: 0, active: 0 } };
      };
      server.onRead = async () => {
        if (restarted) return undefined;
        restarted = true;
        await server.kill();
        await server.start();
        return 'silence';
      };

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '3', '--clients', '1']);

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 3 });
    }));

  it('exits 1 and names the code when a read is refused', () =>
    withServers(1, async (_queue, server) => {
      server.onRead = () => ({ status: 401, body: { code: 'unauthorized', message: 'no' } });

      const { code, stderr } = await runLoadgen(['--url', server.url, '--jobs', '1']);

      expect(code).toBe(1);
      expect(stderr).toContain('a read was answered with 401 unauthorized');
    }));
});

describe('the ledger file', () => {
  it('has every request before its answer, and what the audit found', () =>
    withServers(1, async (queue, server) => {
      const folder = await mkdtemp(join(tmpdir(), 'loadgen-'));
      try {
        const faults = [{ status: 503, body: { code: 'draining' } }, { status: 503, body: { code: 'outcome_unknown' } }, 'cut'] as const;
        server.onSubmit = ({ call }) => faults[call - 1];
        const file = join(folder, 'ledger');

        await runLoadgen(['--url', server.url, '--jobs', '1', '--ledger', file]);

        const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
        const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
        expect(events.map(({ event }) => event)).toEqual([
          'sent',
          'refused',
          'sent',
          'unknown',
          'sent',
          'unknown',
          'sent',
          'acked',
          'audited',
        ]);
        expect(new Set([...events, ...queue.submits].map(({ key }) => key)).size).toBe(1);
        expect(events.at(1)).toMatchObject({ reason: '503 draining', n: 0, target: 0, at: expect.any(Number) });
        expect(events.at(-2)).toMatchObject({ id: 'job-0', status: 200, state: 'done' });
        expect(events.at(-1)).toMatchObject({ id: 'job-0', state: 'done', attempts: 0, requeues: 0 });
      } finally {
        await rm(folder, { recursive: true });
      }
    }));
});
