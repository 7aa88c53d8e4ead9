import { eventually } from './eventually.js';
import type { Recount } from './invariants.js';
import type { JobView, StatsView } from './job-view.js';
import type { ServiceProcess } from './service-process.js';

interface Page {
  readonly jobs: readonly JobView[];
  readonly next_cursor: string | null;
}

/** Every job of the storage that fits, by pages. @param query as in `state=done` */
export async function listAll(service: ServiceProcess, query = ''): Promise<JobView[]> {
  const jobs: JobView[] = [];
  let cursor: string | null = '';
  do {
    const page: Page = await pageOf(service, `limit=1000${query && `&${query}`}${cursor && `&cursor=${cursor}`}`);
    jobs.push(...page.jobs);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return jobs;
}

async function pageOf(service: ServiceProcess, query: string): Promise<Page> {
  const { status, body } = await service.call<Page>('GET', `/jobs?${query}`);
  if (status !== 200) throw new Error(`GET /jobs?${query}: ${status} ${JSON.stringify(body)}`);
  return body;
}

export async function statsOf(service: ServiceProcess): Promise<StatsView> {
  return (await service.call<StatsView>('GET', '/stats')).body;
}

/** Resolves when no job is ready, running or about to be due. @param beyondMs a delay longer than this is not waited for */
export async function quiet(service: ServiceProcess, beyondMs = 60_000): Promise<void> {
  await eventually('the workers to have nothing left to do', async () => {
    const { ready, active } = await statsOf(service);
    if (ready + active > 0) return false;
    const due = Date.now() + beyondMs;
    return (await listAll(service, 'state=delayed')).every(({ run_at }) => run_at > due);
  });
}

/** Reads everything, once nothing changes any more. */
export async function recount(service: ServiceProcess): Promise<Recount> {
  await quiet(service);
  return { stats: await statsOf(service), jobs: await listAll(service) };
}
