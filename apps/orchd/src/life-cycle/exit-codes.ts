/** After sysexits(3), where it has a word for it. */
export const EXIT = {
  stopped: 0,
  done: 0,
  bug: 1,
  damagedLog: 65,
  storageFailed: 74,
  /** The data folder is locked or the port is in use: the same command may work later. */
  occupied: 75,
  badSetting: 78,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const OF_STORAGE = new Map<string, ExitCode>([
  ['storage_locked', EXIT.occupied],
  ['storage_damaged', EXIT.damagedLog],
  ['invalid_argument', EXIT.badSetting],
  ['storage_migrated', EXIT.badSetting],
  ['conflict', EXIT.badSetting],
]);

/** For the code of an `OrchdError` with which a storage refused. */
export function exitCodeOf(errorCode: string): ExitCode {
  return OF_STORAGE.get(errorCode) ?? EXIT.storageFailed;
}
