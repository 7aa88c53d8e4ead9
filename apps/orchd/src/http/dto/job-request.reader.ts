import type { JobRequest } from '@orchd/queue';
import { HTTP, readHttpPayload } from '../../handlers/http/http-payload.js';
import { CPU, CpuPayloadDto } from './cpu-payload.dto.js';
import { DtoReader, isJsonObject, type FieldProblems } from './dto-reader.js';
import { BackoffDto, GeneralJobDto, ShortJobDto, type JobRequestDto } from './job-request.dto.js';
import { SIMULATED, SimulatedPayloadDto } from './simulated-payload.dto.js';

interface PayloadRule {
  readonly reader: DtoReader<object>;
  readonly required: boolean;
}

const backoff = new DtoReader(BackoffDto);
/** The payloads of the built-in types; any other type's is its handler's business. */
const payloads = new Map<string, PayloadRule>([
  [SIMULATED, { reader: new DtoReader(SimulatedPayloadDto), required: false }],
  [CPU, { reader: new DtoReader(CpuPayloadDto), required: true }],
]);
const shortJob = new DtoReader(ShortJobDto, { backoff }, 'is not a field of the short form (work_ms, fail_prob, hang_prob)');
const generalJob = new DtoReader(GeneralJobDto, { backoff });

/** Adds every problem it finds, names prefixed with `path`; the request is good only if it found none. */
export function readJobRequest(body: unknown, problems: FieldProblems, path = ''): JobRequest {
  if (!isJsonObject(body)) {
    problems.set(path.replace(/\.$/, '') || 'body', 'must be a JSON object');
    return { type: SIMULATED };
  }
  return isShortForm(body) ? readShort(body, problems, path) : readGeneral(body, problems, path);
}

function isShortForm(body: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(body, 'work_ms') || Object.hasOwn(body, 'fail_prob') || Object.hasOwn(body, 'hang_prob');
}

function readShort(body: Readonly<Record<string, unknown>>, problems: FieldProblems, path: string): JobRequest {
  const dto = shortJob.read(body, problems, path);
  const { work_ms = 0, fail_prob = 0, hang_prob = 0 } = dto;
  return toJobRequest(dto, SIMULATED, { work_ms, fail_prob, hang_prob }, problems, path);
}

function readGeneral(body: Readonly<Record<string, unknown>>, problems: FieldProblems, path: string): JobRequest {
  const dto = generalJob.read(body, problems, path);
  const rule = payloads.get(dto.type);
  if (rule) checkPayload(dto.payload, rule, problems, `${path}payload`);
  if (dto.type === HTTP) checkHttpPayload(dto.payload, problems, `${path}payload`);
  return toJobRequest(dto, dto.type, dto.payload, problems, path);
}

function checkPayload(payload: unknown, { reader, required }: PayloadRule, problems: FieldProblems, field: string): void {
  if (payload === undefined && !required) return;
  if (isJsonObject(payload)) reader.read(payload, problems, `${field}.`);
  else problems.set(field, payload === undefined ? 'is required for this type' : 'must be a JSON object for this type');
}

function checkHttpPayload(payload: unknown, problems: FieldProblems, path: string): void {
  const read = readHttpPayload(payload);
  if ('problem' in read) problems.set(read.field === '' ? path : `${path}.${read.field}`, read.problem);
}

function toJobRequest(dto: JobRequestDto, type: string, payload: unknown, problems: FieldProblems, path: string): JobRequest {
  if (dto.delay_ms !== undefined && dto.run_at !== undefined) problems.set(`${path}run_at`, 'must not stand beside delay_ms');
  return {
    id: dto.id,
    type,
    payload,
    queue: dto.queue,
    priority: dto.priority,
    delayMs: dto.delay_ms,
    runAt: dto.run_at,
    maxAttempts: dto.max_attempts,
    maxRequeues: dto.max_requeues,
    timeoutMs: dto.timeout_ms,
    backoff: dto.backoff && { baseMs: dto.backoff.base_ms, capMs: dto.backoff.cap_ms },
    dedupeKey: dto.dedupe_key,
  };
}
