import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DECODED_BYTES_MAX, contentEncodingOf, presentBody, presentDetail } from '../../../main/traffic/present.ts';
import { toHar } from '../../../main/traffic/har.ts';
import { createEntryIds } from '../../../main/traffic/entry.ts';
import { entry, presentationOf, record, REDACTOR } from '../../support/traffic-entries.ts';

const TEXT = JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `Réx ${id}` })));
const kept = (bytes: Buffer, all = bytes.length) => ({ chunks: [bytes], bytes: all });
const zipped = (bytes: Buffer) =>
  entry({
    record: record({
      responseFields: ['Content-Type', 'application/json', 'Content-Encoding', 'gzip'],
      responseBody: kept(bytes),
    }),
  });

interface Archived {
  response: { bodySize: number; content: { size: number } };
}
const archive = async (entries: ReturnType<typeof entry>[]) =>
  ((await toHar(entries, REDACTOR)) as { entries: Archived[] }).entries.map(({ response }) => response);

describe('a compressed body', () => {
  it.each([
    ['gzip', 'gzip', gzipSync(TEXT)],
    ['X-GZIP', 'gzip', gzipSync(TEXT)],
    ['deflate', 'deflate', deflateSync(TEXT)],
    ['deflate', 'deflate', deflateRawSync(TEXT)],
    ['br', 'br', brotliCompressSync(TEXT)],
    ['zstd', 'zstd', zstdCompressSync(TEXT)],
  ])('in %s is shown as its text', (sent, decoded, bytes) => {
    const whole = { text: TEXT, encoding: 'utf8', bytes: bytes.length, cut: false, decoded };
    expect(presentBody(kept(bytes), REDACTOR, sent)).toEqual(whole);
  });

  it('without its end is shown as far as it goes', () => {
    const bytes = gzipSync(Buffer.from(Array.from({ length: 9_000 }, (_, index) => 33 + ((index * index) % 89))));
    const shown = presentBody(kept(bytes.subarray(0, bytes.length - 100), bytes.length), REDACTOR, 'gzip');
    expect(shown).toMatchObject({ encoding: 'utf8', decoded: 'gzip', cut: true });
    expect(shown?.text.startsWith('!"%*1:E')).toBe(true);
  });

  it('is shown up to the same limit as others', () => {
    const shown = presentDetail(zipped(gzipSync('ä'.repeat(100_000))), presentationOf(createEntryIds(0)));
    expect(shown.responseBody).toMatchObject({ text: 'ä'.repeat(32 * 1024), cut: true, decoded: 'gzip' });
  });

  it.each([
    ['larger than permitted', gzipSync(Buffer.alloc(DECODED_BYTES_MAX + 1)), 'gzip'],
    ['not in the coding that its field names', Buffer.from([0xff, 1, 2, 3]), 'br'],
    ['in two codings', gzipSync(gzipSync(TEXT)), 'gzip, gzip'],
    ['in an unknown coding', gzipSync(TEXT), 'compress'],
  ])('that is %s stays as it was sent', (_what, bytes, sent) => {
    const asSent = { text: bytes.toString('base64'), encoding: 'base64', bytes: bytes.length, cut: false };
    expect(presentBody(kept(bytes), REDACTOR, sent)).toEqual(asSent);
  });

  it('keeps its secrets redacted', () => {
    const shown = presentBody(kept(gzipSync('{"secret":"viv_abcdEFGHijklMNOP"}')), REDACTOR, 'gzip');
    expect(shown?.text).toBe('{"secret":"viv_abcd…"}');
  });

  it('is found by its field, not by a value', () => {
    expect(contentEncodingOf(['X', 'content-encoding', 'Content-Encoding', 'br'])).toBe('br');
    expect(contentEncodingOf(['X', 'content-encoding'])).toBeUndefined();
  });

  it('is in an archive in the form that its reader expects', async () => {
    const bytes = gzipSync(TEXT);
    const [response] = await archive([zipped(bytes)]);
    const size = Buffer.byteLength(TEXT);
    expect(response).toMatchObject({
      bodySize: bytes.length,
      content: { size, compression: size - bytes.length, mimeType: 'application/json', text: TEXT },
    });
  });

  it('adds to an archive no more than it may unpack to', async () => {
    const large = zipped(gzipSync(Buffer.alloc(DECODED_BYTES_MAX, 'a')));
    const responses = await archive(Array.from({ length: 40 }, () => large));
    expect(responses.filter(({ content }) => content.size === DECODED_BYTES_MAX)).toHaveLength(32);
  });
});

it('bytes that are not text keep their secrets redacted, and their number', () => {
  const bytes = Buffer.from('\xff\0key=viv_abcdEFGHijklMNOP&\xfe', 'latin1');
  const shown = Buffer.from(presentBody(kept(bytes), REDACTOR)?.text ?? '', 'base64');
  expect(shown.length).toBe(bytes.length);
  expect(shown.toString('latin1')).toBe('\xff\0key=viv_abcd************&\xfe');
});
