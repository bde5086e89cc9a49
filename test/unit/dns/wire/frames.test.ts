import { describe, expect, test } from 'vitest';
import { FrameReader } from '../../../../main/dns/server/connections.ts';
import { framed } from '../../../support/dns/dns-client.ts';

const octets = (length: number, seed = 0) => Buffer.from(Array.from({ length }, (_, n) => (n + seed) & 255));

function readAll(stream: Buffer, pieces: (offset: number) => number): Buffer[] {
  const reader = new FrameReader();
  const messages: Buffer[] = [];
  for (let at = 0; at < stream.length;) {
    const size = pieces(at);
    reader.push(stream.subarray(at, at + size));
    at += size;
    for (let next = reader.next(); next !== null; next = reader.next()) messages.push(next);
  }
  return messages;
}

describe('messages from a TCP stream', () => {
  const messages = [octets(12), octets(300, 1), octets(0), octets(65_535, 2), octets(1, 3)];
  const stream = Buffer.concat(messages.map(framed));

  test.each<[string, (offset: number) => number]>([
    ['in one piece', () => stream.length],
    ['octet by octet', () => 1],
    ['in pieces of 2, which cut the lengths off', () => 2],
    ['in pieces of 3', () => 3],
    ['in pieces that grow', (offset) => offset + 1],
  ])('are read: %s', (_how, pieces) => {
    expect(readAll(stream, pieces)).toEqual(messages);
  });

  test('are read up to an incomplete one, which is kept', () => {
    const reader = new FrameReader();
    reader.push(stream.subarray(0, 100));
    expect(reader.next()).toEqual(messages[0]);
    reader.push(stream.subarray(100));
    expect([reader.next(), reader.next(), reader.next(), reader.next(), reader.next()]).toEqual([
      ...messages.slice(1),
      null,
    ]);
  });
});
