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

/**
 * Resolves when no job is ready, running or about to be due. Safe because one look at `/stats` shows all counts of one moment: where every
 * delayed job is one that is far from due, none can have slipped from delayed to active between two questions.
 *
 * @param beyondMs a delay longer than this is not waited for
 */
export async function quiet(service: ServiceProcess, beyondMs = 60_000): Promise<void> {
  await eventually('the workers to have nothing left to do', async () => {
    if (isBusy(await statsOf(service))) return false;
    const due = Date.now() + beyondMs;
    const far = (await listAll(service, 'state=delayed')).filter(({ run_at }) => run_at > due).length;
    const stats = await statsOf(service);
    return !isBusy(stats) && stats.delayed === far;
  });
}

function isBusy({ ready, active }: StatsView): boolean {
  return ready + active > 0;
}

/** Reads everything, once nothing changes any more. */
export async function recount(service: ServiceProcess): Promise<Recount> {
  await quiet(service);
  return { stats: await statsOf(service), jobs: await listAll(service) };
}
