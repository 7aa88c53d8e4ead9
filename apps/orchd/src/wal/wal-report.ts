import type { BadPlace, LogVerdict, Loss, WholeBatch } from '@orchd/storage/wal-tools';

/** One line: the verdict, and what the next start makes of it. */
export function verdictLine(dir: string, verdict: LogVerdict): string {
  if (verdict.verdict === 'damaged') return `${dir}: damaged. ${verdict.file}, offset ${verdict.offset}: ${verdict.reason}`;
  const { records, batches, segments } = verdict;
  const contents = `${count(records, 'record')} in ${count(batches, 'batch', 'batches')}, ${count(segments, 'segment')}`;
  if (verdict.verdict === 'whole') return `${dir}: whole. ${contents}`;
  const { file, offset, bytes, batchesDropped } = verdict;
  const among = batchesDropped === 0 ? '' : ` (${count(batchesDropped, 'whole batch', 'whole batches')} among them)`;
  return `${dir}: torn tail. ${file}, offset ${offset}: ${count(bytes, 'byte')}${among}, never acknowledged, put aside by the next start. Before: ${contents}`;
}

/** A line of JSON for each record of a batch; what is no JSON, which no orchd has written, comes as a string. */
export function recordLines({ file, segment, offset, batch, lines }: WholeBatch): string {
  const place = JSON.stringify({ file, segment, offset }).slice(0, -1);
  return lines
    .map((line, index) => `${place},"number":${batch.first + index},"record":${isJson(line) ? line : JSON.stringify(line)}}\n`)
    .join('');
}

export function badPlaceLine({ file, offset, bytes }: BadPlace): string {
  return `${file}, offset ${offset}: ${count(bytes, 'byte')} that hold no whole record`;
}

export function lossLine({ file, offset, bytes, record, count: records }: Loss): string {
  const what = bytes === 0 ? 'missing before it' : count(bytes, 'byte');
  return `lost: ${file}, offset ${offset}: ${what}, ${lostRecords(record, records)}`;
}

function lostRecords(first: number | undefined, records: number | undefined): string {
  if (first === undefined) return 'nothing tells how many records';
  if (records === undefined) return `record ${first} and what came after it`;
  if (records === 0) return 'no record';
  return records === 1 ? `record ${first}` : `records ${first} to ${first + records - 1}`;
}

/** To be copied into a shell, whatever the folder is called. */
export function salvageCommand(dir: string): string {
  const path = dir.startsWith('-') ? `./${dir}` : dir;
  const word = /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
  return `orchd wal salvage ${word} --to NEW_DIR`;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
