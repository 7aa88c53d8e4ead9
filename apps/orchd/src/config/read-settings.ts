import { parseArgs } from 'node:util';
import { BadSetting } from './setting-parsers.js';
import { SETTING_TABLE, environmentName, type SettingDefinition } from './setting-table.js';
import type { Settings } from './settings.js';

export type CommandLine =
  | { readonly kind: 'run'; readonly settings: Settings }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** One line each, to be shown all at once. */
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

const OPTIONS = {
  ...Object.fromEntries(
    Object.values(SETTING_TABLE).map(({ flag, value }) => [flag, { type: value === '' ? ('boolean' as const) : ('string' as const) }]),
  ),
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** Flags beat environment beats defaults. Looks at nothing but its arguments: no file is opened, no port is tried. */
export function readSettings(argv: readonly string[], environment: NodeJS.ProcessEnv): CommandLine {
  const { flags, problems } = readFlags(argv);
  if (flags.has('help')) return { kind: 'help' };
  if (flags.has('version')) return { kind: 'version' };
  const settings = readValues(flags, environment, problems);
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'run', settings: settings as Settings };
}

/** A flag given twice: the last one counts, so that a wrapper script can be overruled. */
function readFlags(argv: readonly string[]): { flags: Map<string, string>; problems: string[] } {
  const { tokens } = parseArgs({ args: [...argv], options: OPTIONS, strict: false, allowPositionals: true, tokens: true });
  const flags = new Map<string, string>();
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`${quote(token.value)}: is not a flag (see --help)`);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(OPTIONS, token.name) ? OPTIONS[token.name as keyof typeof OPTIONS] : undefined;
    if (option === undefined) problems.push(`${token.rawName}: unknown flag (see --help)`);
    else if (option.type === 'boolean') flags.set(token.name, token.value ?? 'on');
    else if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      problems.push(`${token.rawName} (${environmentName(token.name)}): needs a value`);
    } else flags.set(token.name, token.value);
  }
  return { flags, problems };
}

function readValues(flags: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv, problems: string[]): Partial<Settings> {
  const values: [string, unknown][] = [];
  for (const [name, definition] of Object.entries<SettingDefinition<unknown>>(SETTING_TABLE)) {
    const variable = environmentName(definition.flag);
    const fromFlag = flags.get(definition.flag);
    const text = fromFlag ?? environment[variable] ?? definition.default;
    try {
      values.push([name, definition.parse(text)]);
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error;
      const seen = definition.secret ? 'a value that is not shown' : quote(text);
      problems.push(`--${definition.flag} (${variable}): ${error.message}; got ${seen}${hint(text)}`);
    }
  }
  return Object.fromEntries(values);
}

/** Kubernetes tells every pod of a Service named orchd `ORCHD_PORT=tcp://...`. */
function hint(text: string): string {
  return text.startsWith('tcp://') ? ' (a Kubernetes service link? set enableServiceLinks: false in the pod)' : '';
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);
}
