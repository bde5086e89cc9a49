import { describe, expect, it } from 'vitest';
import { FrameReader } from '../../../../main/proxy/tunnels/frames.ts';

interface FrameOptions {
  opcode?: number;
  fin?: boolean;
  mask?: boolean;
  rsv1?: boolean;
}

const KEY = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

/** A frame as in RFC 6455, section 5.2. */
function frame(payload: Buffer, { opcode = 1, fin = true, mask = false, rsv1 = false }: FrameOptions = {}): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head.writeUInt8((fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode, 0);
  head.writeUInt8((mask ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127), 1);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  if (!mask) return Buffer.concat([head, payload]);
  return Buffer.concat([head, KEY, payload.map((byte, index) => byte ^ KEY.readUInt8(index % 4))]);
}

function readIn(bytes: Buffer, chunkLength: number, keptMax = 10) {
  const seen: string[] = [];
  const reader = new FrameReader(keptMax, ({ opcode, final, compressed, payload, bytes: length }) => {
    const marks = `${final ? '' : '+'}${compressed ? 'z' : ''}`;
    seen.push(`${opcode}${marks} ${length} ${payload.toString('latin1')}`);
  });
  for (let at = 0; at < bytes.length; at += chunkLength) reader.read(bytes.subarray(at, at + chunkLength));
  return seen;
}

describe('frames of a WebSocket', () => {
  const bytes = Buffer.concat([
    frame(Buffer.from('hello'), { mask: true }),
    frame(Buffer.alloc(0), { opcode: 9 }),
    frame(Buffer.alloc(300, 'x'), { opcode: 2, fin: false }),
    frame(Buffer.alloc(70_000, 'y'), { opcode: 0, mask: true }),
    frame(Buffer.from('zip'), { rsv1: true }),
    frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }),
  ]);

  it.each([1, 2, 3, 7, 1_000, 1_000_000])('are read in chunks of %i bytes, and their payloads truncated', (length) => {
    expect(readIn(bytes, length)).toEqual([
      '1 5 hello',
      '9 0 ',
      `2+ 300 ${'x'.repeat(10)}`,
      `0 70000 ${'y'.repeat(10)}`,
      '1z 3 zip',
      '8 2 \x03è',
    ]);
  });

  it('are recorded without payload if none is to be kept', () => {
    expect(readIn(bytes, 100, 0).slice(0, 2)).toEqual(['1 5 ', '9 0 ']);
  });
});
