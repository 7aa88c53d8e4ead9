import { heedSignals } from './life-cycle/signals.js';

// Loaded when it is known which: who looks at a log neither waits for the frameworks of the service nor needs them to be there.
const [first, ...rest] = process.argv.slice(2);
if (first === 'wal') {
  const { walCommand } = await import('./wal/wal-command.js');
  process.exitCode = await walCommand(rest, process);
} else if (first === 'migrate') {
  const { migrateCommand } = await import('./migrate/migrate-command.js');
  process.exitCode = await migrateCommand(rest, process);
} else {
  heedSignals();
  const { serviceCommand } = await import('./service-command.js');
  await serviceCommand();
}
