/** After sysexits(3), where it has a word for it. */
export const EXIT = {
  stopped: 0,
  bug: 1,
  damagedLog: 65,
  storageFailed: 74,
  /** The data folder is locked or the port is in use: the same command may work later. */
  occupied: 75,
  badSetting: 78,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
