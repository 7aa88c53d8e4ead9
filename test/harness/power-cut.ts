import { closeSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { SeededRandom } from './seeded-random.js';

const FRAME_BYTES = 40;
const SECTOR_BYTES = 512;

/** A write that no sync has made safe: what stood there before may be there again. */
export interface UnsyncedWrite {
  readonly inode: number;
  readonly offset: number;
  readonly before: Buffer;
}

/**
 * Reads a journal of the disk shim: the writes that are not safe, in the order in which they began. A write is safe when a sync of its
 * file began after it had ended, and succeeded; never, when such a sync has failed before: the kernel then forgets that it was not written.
 */
export function unsyncedWrites(journal: Buffer): UnsyncedWrite[] {
  const writes = new Map<number, UnsyncedWrite & { state: 'begun' | 'ended' | 'forgotten' }>();
  const syncs = new Map<number, number[]>();
  for (const { kind, call, inode, offset, before } of frames(journal)) {
    switch (kind) {
      case 'w':
        writes.set(call, { inode, offset, before, state: 'begun' });
        break;
      case 'W':
        writes.get(call)!.state = 'ended';
        break;
      case 's':
        syncs.set(
          call,
          [...writes].filter(([, write]) => write.inode === inode && write.state === 'ended').map(([number]) => number),
        );
        break;
      case 'S':
        for (const number of syncs.get(call) ?? []) if (writes.get(number)?.state === 'ended') writes.delete(number);
        break;
      case 'F':
        for (const number of syncs.get(call) ?? []) writes.get(number)!.state = 'forgotten';
        break;
      default:
        throw new Error(`the journal holds a frame of kind ${kind}`);
    }
  }
  return [...writes.values()];
}

interface Frame extends UnsyncedWrite {
  readonly kind: string;
  readonly call: number;
}

function* frames(journal: Buffer): Generator<Frame> {
  for (let at = 0, next: number; at + FRAME_BYTES <= journal.length; at = next) {
    const field = (offset: number) => Number(journal.readBigUInt64LE(at + offset));
    next = at + FRAME_BYTES + field(32);
    const before = journal.subarray(at + FRAME_BYTES, next);
    yield { kind: String.fromCharCode(journal[at]!), call: field(8), inode: field(16), offset: field(24), before };
  }
}

/**
 * What a power cut does to a folder whose process is gone: each sector of each write that was not safe is there or is not. Takes the later
 * writes back first. Returns how many sectors were lost.
 */
export function cutPower(folder: string, journal: Buffer, random: SeededRandom): number {
  const names = new Map(readdirSync(folder).map((name) => [statSync(join(folder, name)).ino, name]));
  const lossRate = random.pick([0.1, 0.5, 1]);
  let lost = 0;
  for (const { inode, offset, before } of unsyncedWrites(journal).reverse()) {
    const name = names.get(inode);
    if (name === undefined) continue;
    const file = openSync(join(folder, name), 'r+');
    for (let at = 0, next: number; at < before.length; at = next) {
      next = Math.min(before.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
      if (random.next() >= lossRate) continue;
      writeSync(file, before, at, next - at, offset + at);
      lost++;
    }
    closeSync(file);
  }
  return lost;
}
