import { InvalidArgumentError, type MovedJob } from '../../contract/index.js';
import { shortPrint } from './enqueue-calls.js';
import { kindOf } from './kind-codec.js';

/** The latest delivery of a job that was moved: when it began. Who had it, nobody here knows. */
const NOBODY = '- -';

/**
 * The arguments of the import script: the epoch floor, then each job as id, instant of creation, state, dedupe key, due time, longest delay,
 * age in ms ('' for none of these), kind, and three lists, each behind its length: fields of the hash, texts with their slots, lines of the log.
 */
export function encodeImport(jobs: readonly MovedJob[], epochFloor: number): string[] {
  const args = [String(epochFloor)];
  for (const job of jobs) encodeJob(job, args);
  return args;
}

function encodeJob(job: MovedJob, args: string[]): void {
  const { id, createdAt, state, dedupeKey, runAt, delayMs, finishedForMs } = job;
  if (state === 'active') throw new InvalidArgumentError('state', `job ${id} is active: its lease cannot be moved`);
  const delayed = state === 'delayed';
  args.push(
    id,
    String(createdAt),
    state,
    dedupeKey ?? '',
    delayed ? String(runAt) : '',
    delayed ? whole(delayMs) : '',
    whole(finishedForMs),
  );
  args.push(kindOf(job));
  for (const list of [fieldsOf(job), textsOf(job), job.log]) args.push(String(list.length), ...list);
}

/** What the script takes over as it is; KEYS.md says what each means. Zeroes and nulls have no field. */
function fieldsOf(job: MovedJob): string[] {
  const { state, fingerprint, epoch, starts, attempts, requeues, releases, startedAt, finishedAt, progress, error } = job;
  const fields: [string, string | number | false | null][] = [
    ['print', fingerprint === null ? null : shortPrint(fingerprint)],
    ['epoch', epoch],
    ['starts', starts],
    ['tries', attempts],
    ['requeues', requeues],
    ['releases', releases],
    ['due', state !== 'delayed' && job.runAt !== job.createdAt && job.runAt],
    ['run', startedAt === null ? null : `${startedAt} ${NOBODY}`],
    ['cancel', job.cancelRequested && 1],
    ['ended', finishedAt],
  ];
  if (progress !== null) fields.push(['percent', String(progress.percent)]);
  if (job.log.length > 0) fields.push(['log', 1]);
  if (error !== null) fields.push(['err', error.code], ['err_at', error.at]);
  return fields.flatMap(([name, value]) => (value === null || value === false || value === 0 ? [] : [name, String(value)]));
}

function textsOf({ payload, dedupeKey, progress, result, error }: MovedJob): string[] {
  const texts: [string, string | null | undefined][] = [
    ['p', payload],
    ['k', dedupeKey],
    ['n', progress?.note],
    ['r', result],
    ['e', error?.message],
  ];
  return texts.flatMap(([slot, text]) => (text === null || text === undefined ? [] : [slot, text]));
}

function whole(ms: number | null): string {
  return ms === null ? '' : String(Math.round(ms));
}
