import type { Random } from './fuzzer.ts';

/** Bytes that parsers treat specially: ends, limits, signs, separators, and broken UTF-8. */
const TELLING = [0, 1, 9, 10, 13, 32, 34, 44, 45, 48, 58, 59, 61, 92, 123, 127, 128, 192, 254, 255];
const TELLING_TEXTS = ['\r\n', '\r\n\r\n', '0\r\n\r\n', '\0\0\0\0', '99999999999', '-1', '%00', '\u2028', '((((', '"'];

const MUTATIONS_MAX = 4;

export const pick = <Item>(items: readonly Item[], random: Random): Item => items[random(items.length)] as Item;

/** One to four random changes: bits, bytes, pieces removed, repeated, moved or inserted, the end cut off. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let changed = Buffer.from(bytes);
  for (let left = 1 + random(MUTATIONS_MAX); left > 0; left--) changed = Buffer.from(change(changed, random));
  return changed;
}

function change(bytes: Buffer, random: Random): Buffer {
  const at = random(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + random(16));
  const insert = (piece: Buffer): Buffer => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
  switch (random(8)) {
    case 0:
      if (at < bytes.length) bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random(8)), at);
      return bytes;
    case 1:
      if (at < bytes.length) bytes.writeUInt8(pick(TELLING, random), at);
      return bytes;
    case 2:
      return insert(Buffer.from(pick(TELLING_TEXTS, random)));
    case 3:
      return insert(bytes.subarray(at, end));
    case 4:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 5:
      return Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)]);
    case 6:
      return bytes.subarray(0, at);
    default:
      return insert(Buffer.alloc(1 + random(300), pick(TELLING, random)));
  }
}
