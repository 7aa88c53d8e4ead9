import { fastWorld, runLoadgen, withServers } from './run.fixture.js';

const KEYS = ['completion_pct', 'dead', 'done', 'jobs', 'label', 'requeued', 'retried', 'submit_s', 'throughput_jobs_s', 'total_s'];

describe('a run', () => {
  it('prints one JSON line with exactly the ten keys in order and exits 0 when every id is final', () =>
    withServers(1, async (queue, server) => {
      const { code, stdout, stderr, result } = await runLoadgen(['--url', server.url, '--jobs', '50', '--label', 'mine']);

      expect(code).toBe(0);
      expect(stderr).toBe('');
      expect(stdout.match(/\n/g)).toHaveLength(1);
      expect(Object.keys(result)).toEqual(KEYS);
      expect(result).toMatchObject({ completion_pct: 100, dead: 0, done: 50, jobs: 50, label: 'mine', requeued: 0, retried: 0 });
      expect(queue.jobs.size).toBe(50);
    }));

  it('sends the short form with its own key for every job', () =>
    withServers(1, async (queue, server) => {
      await runLoadgen(['--url', server.url, '--jobs', '20', '--work-ms', '7.5', '--fail-prob', '0.2', '--hang-prob', '0.01']);

      expect(new Set(queue.submits.map(({ key }) => key)).size).toBe(20);
      for (const { body } of queue.submits) expect(JSON.parse(body)).toEqual({ work_ms: 7.5, fail_prob: 0.2, hang_prob: 0.01 });
    }));

  it('sums retried and requeued from its own jobs, a last failure not counted as a retry', () =>
    withServers(1, async (queue, server) => {
      queue.enqueue('of-somebody-else').job.attempts = 100;
      const outcomes = [
        { state: 'done', attempts: 2, requeues: 1 },
        { state: 'dead', attempts: 5 },
        { state: 'dead', attempts: 3, requeues: 11 },
      ];
      queue.outcome = (n) => outcomes[n - 1] ?? {};

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '4', '--clients', '1']);

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 2, dead: 2, retried: 2 + 4 + 3, requeued: 12, completion_pct: 50 });
    }));

  it.each(['ready', 'delayed', 'active'])('lets the clock run while a job is %s, up to the first poll without one', (state) =>
    withServers(1, async (queue, server) => {
      queue.outcome = (n) => ({ state: n === 1 ? state : 'done' });
      let pollsWithAll = 0;
      server.onStats = () => {
        if (queue.jobs.size === 3) pollsWithAll++;
        const held = queue.jobs.get('job-1');
        if (held && pollsWithAll === 5) held.state = 'done';
        return undefined;
      };

      const { code, result } = await runLoadgen(['--url', server.url, '--jobs', '3', '--clients', '1']);

      expect(code).toBe(0);
      expect(pollsWithAll).toBe(5);
      expect(result.total_s).toBeGreaterThan(result.submit_s as number);
    }),
  );

  it('never has a second /stats request under way at a server that answers slowly', () =>
    withServers(1, async (queue, server) => {
      queue.outcome = () => ({ state: 'active' });
      let open = 0;
      let most = 0;
      server.onStats = async ({ call }) => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 30));
        open--;
        if (call === 4) for (const job of queue.jobs.values()) job.state = 'done';
        return undefined;
      };

      const { code } = await runLoadgen(['--url', server.url, '--jobs', '2']);

      expect(code).toBe(0);
      expect(most).toBe(1);
    }));

  it('exits 2 at the time-out when every acked id still exists', () =>
    withServers(1, async (queue, server) => {
      queue.outcome = (n) => ({ state: n === 3 ? 'active' : 'done', attempts: 1 });

      const { code, result, stderr } = await runLoadgen(['--url', server.url, '--jobs', '8', '--timeout-s', '0.2']);

      expect(code).toBe(2);
      expect(result).toMatchObject({ done: 7, dead: 0, completion_pct: 87.5, retried: 8 });
      expect(stderr).toContain('time-out');
      expect(stderr).toContain('1 not final yet: job-3');
    }));

  it('exits 2 at the time-out when no server was ever there', async () => {
    let url = '';
    await withServers(1, (_queue, server) => Promise.resolve(void (url = server.url)));

    const { code, result, stderr } = await runLoadgen(['--url', url, '--jobs', '5', '--timeout-s', '0.2']);

    expect(code).toBe(2);
    expect(result).toMatchObject({ done: 0, completion_pct: 0, throughput_jobs_s: 0 });
    expect(stderr).toMatch(/5 not acked: (\d unknown, )?\d refused/); // whether a connection was refused or cut off is the system's business
  });

  it('prints the partial result and exits 2 when it is interrupted', () =>
    withServers(1, async (_queue, server) => {
      const interrupt = new AbortController();
      server.onSubmit = ({ call }) => {
        if (call <= 3) return undefined;
        interrupt.abort();
        return 'silence';
      };

      const { code, result, stderr } = await runLoadgen(['--url', server.url, '--jobs', '10', '--clients', '1'], {
        interrupt: interrupt.signal,
      });

      expect(code).toBe(2);
      expect(result).toMatchObject({ jobs: 10, done: 3 });
      expect(stderr).toContain('interrupted');
      expect(stderr).toContain('7 not acked: 1 unknown, 6 unsent');
    }));

  it('refuses bad flags with 78, each by its name, before it sends anything', () =>
    withServers(1, async (queue, server) => {
      const { code, stdout, stderr } = await runLoadgen(['--url', server.url, '--jobs', 'many', '--fail-prob', '2', '--nope', '1']);

      expect(code).toBe(78);
      expect(stdout).toBe('');
      for (const name of ['--jobs', '--fail-prob', '--nope']) expect(stderr).toContain(name);
      expect(queue.submits).toHaveLength(0);
    }));

  it('refuses a ledger file that cannot be opened with 78', () =>
    withServers(1, async (queue, server) => {
      const { code, stderr } = await runLoadgen(['--url', server.url, '--ledger', '/no-such-folder/ledger']);

      expect(code).toBe(78);
      expect(stderr).toContain('--ledger');
      expect(queue.submits).toHaveLength(0);
    }));
});

describe('two addresses of one shared queue', () => {
  it('share the clients evenly', () =>
    withServers(2, async (_queue, one, two) => {
      const { code, result } = await runLoadgen(['--url', one.url, '--url', two.url, '--jobs', '200', '--clients', '4']);

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 200 });
      expect(one.answered.submits).toBeGreaterThan(50);
      expect(two.answered.submits).toBeGreaterThan(50);
    }));

  it('stand in for each other when one is killed for good', () =>
    withServers(2, async (queue, one, two) => {
      one.onSubmit = async (): Promise<'silence'> => {
        await one.kill();
        return 'silence';
      };

      const { code, result } = await runLoadgen(['--url', one.url, '--url', two.url, '--jobs', '100', '--clients', '4'], {
        world: fastWorld(20),
      });

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 100 });
      expect(queue.jobs.size).toBe(100);
    }));

  it('must both find the queue empty while both answer', () =>
    withServers(2, async (queue, one, two) => {
      queue.outcome = () => ({ state: 'active' });
      one.onStats = () => ({ status: 200, body: { ready: 0, delayed: 0, active: 0 } });
      two.onStats = ({ call }) => {
        if (call === 5) for (const job of queue.jobs.values()) job.state = 'done';
        return undefined;
      };

      const { code } = await runLoadgen(['--url', two.url, '--url', one.url, '--jobs', '10']);

      expect(code).toBe(0);
      expect(two.answered.stats).toBeGreaterThanOrEqual(5);
      expect(one.answered.reads + two.answered.reads).toBe(10);
    }));

  it('prove nothing undone while one of them is silent', () =>
    withServers(2, async (queue, one, two) => {
      await two.kill();
      queue.outcome = () => ({ state: 'active' });
      one.onStats = () => ({ status: 200, body: { ready: 0, delayed: 0, active: 0 } });
      one.onRead = ({ call }) => {
        if (call === 3) for (const job of queue.jobs.values()) job.state = 'done';
        return undefined;
      };

      const { code, result } = await runLoadgen(['--url', one.url, '--url', two.url, '--jobs', '2'], { world: fastWorld(20) });

      expect(code).toBe(0);
      expect(result).toMatchObject({ done: 2 });
    }));
});
