import { OrchdError } from '../../../contract/errors.js';
import { errorCode } from './file-system.js';

/** The log is not what it must be, and going on would hide a loss. Nothing has been changed. */
export class LogDamagedError extends OrchdError {
  constructor(
    readonly folder: string,
    readonly file: string,
    readonly offset: number,
    readonly reason: string,
  ) {
    super(
      'storage_damaged',
      `${file}, offset ${offset}: ${reason}. Nothing was changed. ` +
        `What is whole can be copied into a new folder: orchd wal salvage ${folder} NEW_FOLDER`,
    );
  }
}

/** An I/O error by the name that callers know; what is an OrchdError already stays what it is. */
export function unavailable(doing: string, cause: unknown): OrchdError {
  if (cause instanceof OrchdError) return cause;
  return new OrchdError('storage_unavailable', `${doing}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

/** No space now, or no descriptor: worth another try later, and no reason to doubt what was written before. */
export function passes(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(errorCode(error) ?? '');
}
