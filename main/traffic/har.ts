import { nextTurn } from '../base/turns.ts';
import { VERSION } from '../base/config.ts';
import type { Entry } from './entry.ts';
import { DECODED_BYTES_MAX, contentEncodingOf, presentBody } from './present.ts';
import type { Redactor } from './redact.ts';

type Field = { name: string; value: string };

/** Bytes written per turn of the event loop; takes some two milliseconds. */
const BYTES_PER_TURN = 64 * 1024;

/** Approximate size of an entry in an archive, without bodies. */
const ENTRY_BYTES = 2 * 1024;

/** Limit on all decompressed bodies of an archive; the rest remain as sent. */
const DECODED_BYTES = 32 * DECODED_BYTES_MAX;

export interface Har extends Record<string, unknown> {
  entries: unknown[];
}

/**
 * Entries, oldest first, as an HTTP archive (HAR 1.2). Times are real, for comparison with other archives. Written in
 * turns; each entry is read when its turn comes.
 */
export async function toHar(entries: Iterable<Entry>, redactor: Redactor): Promise<Har> {
  const made: unknown[] = [];
  let bytes = 0;
  let decodedLeft = DECODED_BYTES;
  for (const entry of entries) {
    const content = contentOf(entry.record, redactor, Math.min(decodedLeft, DECODED_BYTES_MAX));
    made.push(harEntry(entry, redactor, content));
    bytes += ENTRY_BYTES + keptBytes(entry) + content.size;
    if (content.compression !== undefined) decodedLeft -= content.size;
    if (bytes < BYTES_PER_TURN) continue;
    bytes = 0;
    await nextTurn();
  }
  return { version: '1.2', creator: { name: 'Vivarium', version: VERSION }, pages: [], entries: made };
}

export const keptBytes = ({ record: { requestBody, responseBody } }: Entry): number =>
  [...requestBody.chunks, ...responseBody.chunks].reduce((sum, { length }) => sum + length, 0);

function harEntry(entry: Entry, redactor: Redactor, content: Content): Record<string, unknown> {
  const { record, durationMs } = entry;
  const firstByteMs = record.firstByteMs ?? durationMs;
  const url = escaped(`${entry.scheme}://${entry.authority ?? 'unknown.invalid'}${redactor.text(entry.target)}`);
  const requestHeaders = redactor.fields(record.requestFields).filter(({ name }) => !name.startsWith(':'));
  const responseHeaders = redactor.fields(record.responseFields, record.requestFields);
  const requestBody = presentBody(record.requestBody, redactor);
  return {
    startedDateTime: new Date(entry.realAtMs).toISOString(),
    time: durationMs,
    request: {
      method: entry.method,
      url,
      httpVersion: versionOf(entry),
      cookies: [],
      headers: requestHeaders,
      queryString: queryOf(url),
      ...(requestBody !== null && {
        postData: {
          mimeType: valueOf(requestHeaders, 'content-type') ?? 'application/octet-stream',
          text: requestBody.text,
          ...(requestBody.encoding === 'base64' && { comment: 'base64' }),
        },
      }),
      headersSize: -1,
      bodySize: record.requestBody.bytes,
    },
    response: {
      // Archives use 0 if there was no answer.
      status: entry.status ?? 0,
      statusText: '',
      httpVersion: versionOf(entry),
      cookies: [],
      headers: responseHeaders,
      content,
      redirectURL: valueOf(responseHeaders, 'location') ?? '',
      headersSize: -1,
      bodySize: record.responseBody.bytes,
    },
    cache: {},
    timings: {
      ...{ blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0 },
      wait: firstByteMs,
      receive: Math.max(0, durationMs - firstByteMs),
    },
    serverIPAddress: '127.0.0.1',
    connection: String(entry.port),
    // A field of Vivarium's own, as HAR 1.2 permits: the break that struck.
    ...(entry.fault !== null && { _fault: entry.fault }),
  };
}

interface Content extends Record<string, unknown> {
  /** Decoded size in bytes. */
  size: number;
  /** Bytes saved by compression. */
  compression?: number;
}

/** HAR requires the body without its content coding. */
function contentOf({ responseBody, responseFields }: Entry['record'], redactor: Redactor, decodedMax: number): Content {
  const body = presentBody(responseBody, redactor, contentEncodingOf(responseFields), { decodedMax });
  const isDecoded = body?.decoded !== undefined;
  const size = isDecoded ? Buffer.byteLength(body.text, body.encoding) : responseBody.bytes;
  return {
    size,
    ...(isDecoded && { compression: size - responseBody.bytes }),
    mimeType: valueOf(redactor.fields(responseFields), 'content-type') ?? '',
    ...(body !== null && { text: body.text, ...(body.encoding === 'base64' && { encoding: 'base64' }) }),
    ...(body?.cut === true && { comment: 'cut after 64 KiB' }),
  };
}

/** Percent-encodes characters not allowed in a URI (RFC 3986, section 2); keeps existing encodings. */
const escaped = (url: string): string => url.replace(/[^\x21-\x7e]|[<>"{}|\\^`]/gu, encodeURIComponent);

const versionOf = ({ httpVersion }: Entry): string => (httpVersion === '2.0' ? 'HTTP/2' : `HTTP/${httpVersion}`);

const valueOf = (fields: readonly Field[], name: string): string | undefined =>
  fields.find((field) => field.name.toLowerCase() === name)?.value;

function queryOf(url: string): Field[] {
  const parsed = URL.parse(url);
  return parsed === null ? [] : [...parsed.searchParams].map(([name, value]) => ({ name, value }));
}
