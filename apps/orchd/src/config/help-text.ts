import { SETTING_TABLE, environmentName } from './setting-table.js';

/** What `orchd --help` prints: one block per flag, aligned, no line wider than a terminal. */
export function helpText(version: string): string {
  const rows = Object.values(SETTING_TABLE).map(({ flag, value, default: preset, help }) => ({
    left: `--${flag} ${value}`.trimEnd(),
    middle: environmentName(flag),
    right: preset,
    help,
  }));
  const width = (column: 'left' | 'middle') => Math.max(...rows.map((row) => row[column].length)) + 2;
  const [left, middle] = [width('left'), width('middle')];
  const lines = rows.map((row) => `${`  ${row.left.padEnd(left)}${row.middle.padEnd(middle)}${row.right}`.trimEnd()}\n      ${row.help}`);
  return `orchd ${version}: a durable job queue and scheduler behind an HTTP API

Usage: orchd [flags]
       orchd wal verify|dump|salvage DIR     a log on disk; see orchd wal --help
       orchd migrate --from wal:DIR --to ... jobs to another storage; see orchd migrate --help

  ${'flag'.padEnd(left)}${'environment'.padEnd(middle)}default
${lines.join('\n')}
  --help, -h
  --version, -v

Flags beat environment variables beat defaults. Every bad setting is reported at once.

Exit codes: 0 stopped by a signal; 65 the log is damaged; 74 the storage failed or is not writable;
75 the data folder is locked or the port is in use; 78 bad setting, or the jobs were moved.
`;
}
