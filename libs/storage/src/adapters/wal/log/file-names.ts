const SEGMENT = /^wal-(\d{10,15})\.log$/;
const SPARE = /^spare-(\d{1,15})\.tmp$/;
const BROKEN = /^wal-\d{10,15}-\d{10,15}\.broken$/;
const DRAFT = /^(wal|spare)-[\d-]+\.(tmp|broken)\.new$/;

export const LOCK_NAME = 'LOCK';
/** There where the jobs of the folder were moved to another storage. */
export const MIGRATED_NAME = 'MIGRATED';

/** What a log's folder holds, by the names alone; anything else in it is not ours. */
export interface FolderContents {
  /** Ascending. */
  segments: number[];
  /** Oldest first. */
  spares: number[];
  /** Oldest first. */
  broken: string[];
  /** Files that their writer never finished. */
  drafts: string[];
}

export function segmentName(segment: number): string {
  return `wal-${digits(segment)}.log`;
}

export function spareName(spare: number): string {
  return `spare-${spare}.tmp`;
}

export function brokenName(segment: number, offset: number): string {
  return `wal-${digits(segment)}-${digits(offset)}.broken`;
}

/** The name of a file until its content is synced. */
export function draftName(name: string): string {
  return `${name}.new`;
}

export function sortFolder(names: string[]): FolderContents {
  const ascending = (a: number, b: number) => a - b;
  return {
    segments: numbersOf(names, SEGMENT, segmentName).sort(ascending),
    spares: numbersOf(names, SPARE, spareName).sort(ascending),
    broken: names.filter((name) => BROKEN.test(name)).sort(),
    drafts: names.filter((name) => DRAFT.test(name)),
  };
}

function numbersOf(names: string[], pattern: RegExp, nameOf: (number: number) => string): number[] {
  return names.flatMap((name) => {
    const number = Number(pattern.exec(name)?.[1]);
    return name === nameOf(number) ? [number] : [];
  });
}

/** Ten digits sort like numbers for the first ten thousand million segments. */
function digits(value: number): string {
  return String(value).padStart(10, '0');
}
