import { freshFolder } from '../lib/folders.mjs';
import { runLoadgen, startOrchd } from '../lib/processes.mjs';

/** The clients of the original's load generator. */
export const CLIENTS = 32;
export const WORKERS = 16;

/** A fresh service with its folder, one run of the load generator against it, and the end of both. */
export async function runAgainstOrchd(work, orchdFlags, loadFlags) {
  const { folder, remove } = freshFolder(work);
  const orchd = await startOrchd(['--data-dir', folder, ...orchdFlags.map(String)]);
  try {
    return await runLoadgen(orchd.url, ['--clients', CLIENTS, ...loadFlags]);
  } finally {
    await orchd.stop();
    remove();
  }
}

/** A run that must end with every job final: anything else makes its figures worthless. */
export function complete(result) {
  if (result.exit_code !== 0) throw new Error(`a run ended with exit code ${result.exit_code}: ${result.remarks}`);
  return result;
}
