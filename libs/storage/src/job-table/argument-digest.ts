const EMPTY = 0;
/** Looked up once: in a context of its own (Jest, node:vm) a global costs a hundred times as much as the step it serves. */
const { imul } = Math;

/**
 * A 53-bit digest of the arguments of a settle, kept instead of them (R4). Two 32-bit lanes, each step a xor and a multiplication
 * (FNV-1a), mixed at the end. It guards against a worker's mistake, not against an adversary: both calls come from the lease's holder.
 */
export function argumentDigest(text: string | null): number {
  if (text === null) return EMPTY;
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = imul(low ^ unit, 0x01000193);
    high = imul(high ^ unit, 0x5bd1e995) ^ (high >>> 13);
  }
  low = imul(low ^ (low >>> 16), 0x85ebca6b);
  high = imul(high ^ (high >>> 15), 0xc2b2ae35);
  return 1 + ((high >>> 12) * 2 ** 32 + ((low ^ (low >>> 13)) >>> 0));
}
