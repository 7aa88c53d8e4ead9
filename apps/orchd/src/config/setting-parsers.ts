import { QUEUE_PATTERN } from '@orchd/storage';
import type { HttpHost, QueueSetting } from './settings.js';

/** Reads a setting's text or throws a {@link BadSetting} that says what would have been right. */
export type SettingParser<T> = (text: string) => T;

export class BadSetting extends Error {}

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** Decimal digits and nothing else: no sign, exponent, hex, blanks or leading zeroes, of which each reader makes something else. */
export function integer(min: number, max: number): SettingParser<number> {
  return (text) => {
    const value = Number(text);
    if (!INTEGER.test(text) || value < min || value > max) throw new BadSetting(`must be a whole number ${min}..${max}`);
    return value;
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): SettingParser<T> {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new BadSetting(`must be ${choices.join(' or ')}`);
    return choice;
  };
}

export const onOff: SettingParser<boolean> = (text) => oneOf(['on', 'off'])(text) === 'on';

/** A path or host name; what it names is looked at when it is used. */
export const plainText: SettingParser<string> = (text) => {
  if (text.trim() === '' || text.includes('\0')) throw new BadSetting('must not be empty');
  return text;
};

/** A path; nothing stands for no folder. */
export const folderOrNone: SettingParser<string | null> = (text) => (text === '' ? null : plainText(text));

export function matching(pattern: RegExp): SettingParser<string> {
  return (text) => {
    if (!pattern.test(text)) throw new BadSetting(`must match ${pattern.source}`);
    return text;
  };
}

export const redisUrl: SettingParser<string> = (text) => {
  // No `new URL`: the hosts of a Cluster or of Sentinels, with commas between, are none.
  if (/^rediss?(\+sentinel)?:\/\/[^/\s]+/.test(text)) return text;
  throw new BadSetting('must be a URL redis://host:port, rediss://host:port or redis+sentinel://host:port/name');
};

/** `name[:workers],...`: the queues a process serves. */
export function queueList(maxWorkers: number): SettingParser<readonly QueueSetting[]> {
  const workerCount = integer(1, maxWorkers);
  return (text) => {
    const seen = new Set<string>();
    return eachOf(text, (part) => {
      const [name = '', workers, ...rest] = part.split(':');
      if (!QUEUE_PATTERN.test(name) || rest.length > 0)
        throw new BadSetting('must be name[:workers],... with names of letters, digits, _ and -');
      if (seen.has(name)) throw new BadSetting(`names the queue ${name} twice`);
      seen.add(name);
      return { name, workers: workers === undefined ? null : workerCount(workers) };
    });
  };
}

/** The parts of a list with commas between; what is wrong with them, all at once. */
function eachOf<T>(text: string, parse: SettingParser<T>): T[] {
  const problems = new Set<string>();
  const values = text.split(',').map((part) => {
    try {
      return parse(part);
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error;
      problems.add(error.message);
      return undefined as T;
    }
  });
  if (problems.size > 0) throw new BadSetting([...problems].join('; '));
  return values;
}

const HTTP_HOST = /^((?:[*][.])?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$/;

/** `host[:port],...`, an IPv6 address in brackets, `*.name` for all names below one; empty: none. As a URL would write it. */
export const httpHosts: SettingParser<readonly HttpHost[]> = (text) => {
  if (text === '') return [];
  const portNumber = integer(1, 65_535);
  return eachOf(text, (part) => {
    const [, host, port] = HTTP_HOST.exec(part) ?? [];
    if (host === undefined) throw new BadSetting('must be host[:port],... with names, addresses, or *.name');
    const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
    return { host: bare, port: port === undefined ? null : portNumber(port) };
  });
};
