import { OrchdError } from '../../../contract/index.js';
import type { ScriptMode } from '../script.js';

/** Replies with which Redis says that it did not run the command at all. */
const REFUSALS = new Set([
  ...['READONLY', 'MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'CROSSSLOT', 'MASTERDOWN', 'LOADING', 'BUSY', 'UNBLOCKED'],
  ...['MISCONF', 'NOREPLICAS', 'NOAUTH', 'WRONGPASS', 'NOPERM', 'NOSCRIPT'],
]);

/** Replies after which this connection will not get better: it leads to the wrong server, or to one that is not ready. */
const HOPELESS = new Set(['READONLY', 'MOVED', 'CLUSTERDOWN', 'MASTERDOWN', 'LOADING', 'UNBLOCKED', 'NOAUTH', 'WRONGPASS']);

/** The first word of an error reply, its code; '' for what is none. */
export function replyCode(error: unknown): string {
  return error instanceof Error && error.name === 'ReplyError' ? (/^[A-Z]+/.exec(error.message)?.[0] ?? '') : '';
}

export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}

/** The connection must be made anew: it is lost, silent (half open, case G09) or leads nowhere. */
export function endsConnection(error: unknown): boolean {
  return isTimeout(error) || HOPELESS.has(replyCode(error));
}

/**
 * What a caller is told (R15). A command that was refused was not done. One whose answer is missing may have been, so the outcome is
 * unknown; a read has no outcome.
 */
export function translate(error: unknown, mode: ScriptMode): OrchdError {
  if (error instanceof OrchdError) return error;
  const code = replyCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'OOM') return new OrchdError('storage_full', 'Redis is over its maxmemory', { cause: error });
  if (mode === 'read' || REFUSALS.has(code) || message.startsWith("Stream isn't writeable")) {
    return new OrchdError('storage_unavailable', `Redis does not serve: ${message}`, { cause: error });
  }
  return new OrchdError('outcome_unknown', `Redis was asked and did not answer: ${message}`, { cause: error });
}
