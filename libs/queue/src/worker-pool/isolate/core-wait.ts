import { readFileSync } from 'node:fs';

const NS_PER_MS = 1e6;

/**
 * How long the kernel has kept a thread waiting for a core, in all its life, in ms: Linux says it in the second figure of `schedstat`. 0 where
 * nobody says it.
 *
 * @param task a folder of /proc; '' for none
 */
export function coreWaitMs(task: string): number {
  if (task === '') return 0;
  try {
    return Number(readFileSync(`${task}/schedstat`, 'latin1').split(' ')[1]) / NS_PER_MS || 0;
  } catch {
    return 0;
  }
}
