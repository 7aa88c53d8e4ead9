import { Inject } from '@nestjs/common';
import { DiscardJob, JobHandler, SnoozeJob, type Handler, type Job, type JobContext } from '@orchd/queue';
import { systemClock } from '@orchd/storage';
import type { HttpHost } from '../../config/settings.js';
import { HeartbeatTicker } from '../heartbeat-ticker.js';
import { HTTP, readHttpPayload, type HttpPayload } from './http-payload.js';
import { OutboundRefusal } from './outbound-rules.js';
import { sendRequest, type Answer } from './send-request.js';

export const HTTP_ALLOW = Symbol('HTTP_ALLOW');

const BEAT_MS = 10;
const BUSY = new Set([429, 503]);
/** A server that asks for patience gets it without an attempt being charged; but not for ever. */
const MOST_SNOOZES = 20;
const LONGEST_SNOOZE_MS = 86_400_000;
/** `Retry-After: 0`, or a date that is past, is no leave to knock twenty times in a row. */
const SHORTEST_SNOOZE_MS = 1000;
const SECONDS = /^\d{1,9}$/;
/** The two forms of RFC 9110, 5.6.7 that name their zone. `Date.parse` alone takes `1.5` for a day in 2001. */
const HTTP_DATE = /^[A-Z][a-z]+, [\w: -]+ GMT$/;

/** Sends an HTTP request to one of the hosts of `--http-allow`. Done with a 2xx; anything else is another attempt. */
@JobHandler(HTTP)
export class HttpHandler implements Handler<unknown> {
  readonly #ticker = new HeartbeatTicker(systemClock, BEAT_MS);

  constructor(@Inject(HTTP_ALLOW) private readonly allowed: readonly HttpHost[]) {}

  async handle(job: Job, ctx: JobContext): Promise<{ status: number; body: string }> {
    const payload = readHttpPayload(job.payload);
    if ('problem' in payload) throw new DiscardJob(`${['payload', payload.field].filter(Boolean).join('.')} ${payload.problem}`);
    const { status, body, retryAfter } = await this.#send(payload, ctx);
    if (status >= 200 && status < 300) return { status, body };
    const patienceMs = BUSY.has(status) && job.releases < MOST_SNOOZES ? patience(retryAfter) : null;
    if (patienceMs !== null) throw new SnoozeJob(Math.min(Math.max(patienceMs, SHORTEST_SNOOZE_MS), LONGEST_SNOOZE_MS));
    throw new Error(`the answer was ${status}`);
  }

  async #send(payload: HttpPayload, ctx: JobContext): Promise<Answer> {
    const stopBeating = this.#ticker.subscribe(() => ctx.heartbeat());
    const tooLate = AbortSignal.timeout(payload.timeoutMs);
    const signal = AbortSignal.any([ctx.signal, tooLate]);
    try {
      return await sendRequest(payload, this.allowed, signal);
    } catch (error) {
      if (error instanceof OutboundRefusal) throw new DiscardJob(error.message);
      if (tooLate.aborted) throw new Error(`no whole answer within ${payload.timeoutMs} ms`, { cause: error });
      throw error;
    } finally {
      stopBeating();
    }
  }
}

/** Ms that `Retry-After` asks for, in seconds or as a date; null for nothing that can be read. */
function patience(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null;
  if (SECONDS.test(retryAfter)) return Number(retryAfter) * 1000;
  const at = HTTP_DATE.test(retryAfter) ? Date.parse(retryAfter) : NaN;
  return Number.isNaN(at) ? null : at - systemClock.wallMs();
}
