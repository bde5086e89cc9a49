import { pairsOf } from '../base/http/message.ts';
import type { MatchContext } from '../contract/traffic-filter.ts';
import type { RecordedBody } from '../model/exchange-record.ts';
import type { Entry } from './entry.ts';
import { bytesOf, contentEncodingOf, decode } from './present.ts';
import type { Redactor } from './redact.ts';

const DECODED_BYTES_MAX = 256 * 1024;

/** Searches the messages of entries for text in lower case. */
export type MessageSearch = MatchContext<Entry>['search'];

/**
 * `once`: all entries are read before any is overwritten. Bodies that the log stores once are then searched once,
 * however many entries share them.
 */
export function createSearch(redactor: Redactor, { once }: { once: boolean }): MessageSearch {
  const known = new Map<ArrayBufferLike, Map<string, boolean>>();

  function searchBody(body: RecordedBody, fields: readonly string[], text: string): boolean {
    if (body.chunks.length === 0) return false;
    const bytes = bytesOf(body);
    const coding = body.asShown === undefined ? contentEncodingOf(fields) : undefined;
    const whole = decode(bytes, coding, DECODED_BYTES_MAX)?.bytes ?? bytes;
    return whole.toString('latin1').toLowerCase().includes(asLatin1(text));
  }

  function hasIn(body: RecordedBody, fields: readonly string[], text: string): boolean {
    const [chunk] = body.chunks;
    if (!once || !Buffer.isBuffer(chunk) || body.chunks.length > 1) return searchBody(body, fields, text);
    const seen = known.get(chunk.buffer) ?? new Map<string, boolean>();
    known.set(chunk.buffer, seen);
    const place = `${chunk.byteOffset} ${chunk.length} ${contentEncodingOf(fields) ?? ''} ${text}`;
    const found = seen.get(place) ?? searchBody(body, fields, text);
    seen.set(place, found);
    return found;
  }

  return {
    hasHeader({ record }, text) {
      return [record.requestFields, record.responseFields].some((fields) =>
        pairsOf(fields).some(
          ([name, value]) =>
            lineOf(name, value).includes(text) &&
            redactor.fields([name, value]).some((shown) => lineOf(shown.name, shown.value).includes(text)),
        ),
      );
    },
    hasBody: ({ record }, text) =>
      hasIn(record.requestBody, record.requestFields, text) || hasIn(record.responseBody, record.responseFields, text),
  };
}

const lineOf = (name: string, value: string): string => `${name}: ${value}`.toLowerCase();

/** The UTF-8 bytes of a text as characters, for comparison with bytes read in the same way. */
const asLatin1 = (text: string): string => Buffer.from(text).toString('latin1').toLowerCase();
