import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';
import { orElse } from '../contract/errors.ts';
import { DRILL_ENTRY } from '../contract/breaks.ts';
import { simulated } from '../contract/provider-table.ts';
import type { TrafficDetail, TrafficEntry, TrafficFrame } from '../contract/traffic.ts';
import { RECORDED_BODY_BYTES_MAX, type RecordedBody, type RecordedFrames } from '../model/exchange-record.ts';
import type { RateState } from '../model/rate-decision.ts';
import { answererOf, type Entry, type EntryIds, idOfEntry } from './entry.ts';
import type { Redactor } from './redact.ts';

export interface Presentation extends Pick<EntryIds, 'idOf' | 'idOfBegun'> {
  redactor: Redactor;
  /** Null for a removed project. */
  slugOf(projectId: string): string | null;
  /** The title of a break's entry. */
  titleOf(entry: string): string;
}

export function presentEntry(entry: Entry, { redactor, slugOf, titleOf, ...ids }: Presentation): TrafficEntry {
  const { record, route, decision } = entry;
  const slug = route === null ? null : slugOf(route.projectId);
  return {
    id: idOfEntry(entry, ids),
    at: new Date(entry.atMs).toISOString(),
    realAt: new Date(entry.realAtMs).toISOString(),
    method: entry.method,
    target: redactor.text(entry.target),
    scheme: entry.scheme,
    httpVersion: entry.httpVersion,
    authority: entry.authority,
    status: entry.status,
    stage: entry.stage,
    ...(entry.fault !== null && { fault: { ...entry.fault, title: titleOf(entry.fault.entry) } }),
    ...(route !== null && { projectId: route.projectId, environment: route.environment }),
    ...(slug !== null && { project: slug }),
    answeredBy: answererOf(entry),
    ...(route?.target.kind === 'provider' && { provider: route.target.provider }),
    ...(entry.keyId !== null && { keyId: entry.keyId }),
    address: entry.address,
    ...presentRefusal(decision),
    requestBytes: record.requestBody.bytes,
    responseBytes: record.responseBody.bytes,
    firstByteMs: record.firstByteMs === null ? null : rounded(record.firstByteMs),
    durationMs: rounded(entry.durationMs),
    aborted: entry.aborted,
    ...(entry.running && { running: true as const }),
    ...(entry.replayOf !== null && { replayOf: ids.idOf(entry.replayOf) }),
  };
}

const presentRate = ({ limit, remaining, resetAtMs }: RateState): TrafficDetail['rate'] => ({
  limit,
  remaining,
  resetSeconds: Math.ceil(resetAtMs / 1000),
});

function presentRefusal(decision: Entry['decision']): Pick<TrafficEntry, 'refusal' | 'window'> {
  const refusal = decision?.refusal ?? null;
  if (refusal === null) return {};
  return { refusal: refusal.code, ...(refusal.window !== undefined && { window: refusal.window }) };
}

export function presentDetail(entry: Entry, presentation: Presentation): TrafficDetail {
  const { redactor } = presentation;
  const { record, route, decision } = entry;
  return {
    ...presentEntry(entry, presentation),
    explanation: explain(entry, presentation),
    timings: timingsOf(entry),
    rate: decision === null ? null : presentRate(decision.rate),
    ...(route?.target.kind === 'upstream' && { upstream: route.target.url }),
    requestHeaders: redactor.fields(record.requestFields),
    responseHeaders: redactor.fields(record.responseFields, record.requestFields),
    requestBody: presentBody(record.requestBody, redactor),
    responseBody: presentBody(record.responseBody, redactor, contentEncodingOf(record.responseFields), {
      shownMax: RECORDED_BODY_BYTES_MAX,
    }),
    ...(record.frames !== null && { frames: presentFrames(record.frames, redactor) }),
  };
}

/** RFC 6455 §11.8. */
export const FRAME_KINDS: Readonly<Record<number, TrafficFrame['kind']>> = {
  0: 'continuation',
  1: 'text',
  2: 'binary',
  8: 'close',
  9: 'ping',
  10: 'pong',
};

function presentFrames({ newest, total }: RecordedFrames, redactor: Redactor): TrafficDetail['frames'] {
  const items = newest.map(({ atMs, from, opcode, final, compressed, payload, bytes, ...kept }): TrafficFrame => {
    const cut = kept.cut ?? payload.length < bytes;
    const text = compressed ? null : textOf(payload, cut);
    return {
      atMs: rounded(atMs),
      from,
      kind: FRAME_KINDS[opcode] ?? 'other',
      final,
      ...(text === null
        ? { text: redactor.bytes(payload).toString('base64'), encoding: 'base64' }
        : { text: redactor.body(text), encoding: 'utf8' }),
      compressed,
      bytes,
      cut,
    };
  });
  return { items, total };
}

/** Omits `waiting` for an exchange that ended before the target. */
function timingsOf({ durationMs, record, stage }: Entry): TrafficDetail['timings'] {
  const firstByteMs = record.firstByteMs ?? durationMs;
  const receiving = { part: 'receiving', ms: rounded(Math.max(0, durationMs - firstByteMs)) } as const;
  if (stage !== 'target') return [{ part: 'stages', ms: rounded(firstByteMs) }, receiving];
  const handedMs = Math.min(record.handedMs ?? firstByteMs, firstByteMs);
  return [
    { part: 'stages', ms: rounded(handedMs) },
    { part: 'waiting', ms: rounded(firstByteMs - handedMs) },
    receiving,
  ];
}

/**
 * A recorded body, without its content coding if it decodes within `decodedMax` bytes, and as text if it is text; cut
 * to the first `shownMax` bytes. Null if nothing was recorded.
 */
export function presentBody(
  body: RecordedBody,
  redactor: Redactor,
  contentEncoding?: string,
  { decodedMax = DECODED_BYTES_MAX, shownMax = DECODED_BYTES_MAX }: { decodedMax?: number; shownMax?: number } = {},
): TrafficDetail['responseBody'] {
  if (body.chunks.length === 0) return null;
  const kept = bytesOf(body);
  const { asShown } = body;
  const decoded = asShown === undefined ? decode(kept, contentEncoding, decodedMax) : null;
  const whole = decoded?.bytes ?? kept;
  const read = whole.subarray(0, shownMax);
  const cut = (asShown?.cut ?? kept.length < body.bytes) || read.length < whole.length;
  const coding = asShown?.decoded ?? decoded?.coding;
  const text = textOf(read, cut);
  return {
    ...(text === null
      ? { text: redactor.bytes(read).toString('base64'), encoding: 'base64' }
      : { text: redactor.body(text), encoding: 'utf8' }),
    bytes: body.bytes,
    cut,
    ...(coding !== undefined && { decoded: coding }),
  };
}

/** `Content-Encoding` in a flat list of fields. */
export function contentEncodingOf(fields: readonly string[]): string | undefined {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-encoding');
  return at < 0 ? undefined : fields[at + 1];
}

export const bytesOf = ({ chunks, encoding }: RecordedBody): Buffer =>
  Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)));

/** A UTF-8 character has up to four bytes; one cut at the end is dropped. */
const CUT_BYTES_MAX = 3;

function textOf(bytes: Buffer, cut: boolean): string | null {
  for (let missing = 0; missing <= (cut ? CUT_BYTES_MAX : 0); missing++) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytes.length - missing));
    } catch {
      // Not text, or cut inside a character.
    }
  }
  return null;
}

/** Hundredths of a millisecond; more digits would be noise. */
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** Why an exchange was answered as it was, in a sentence; `stage` says where. */
export function explain(entry: Entry, texts: Pick<Presentation, 'titleOf'>): string {
  const { stage, status, decision, route } = entry;
  if (entry.running && status === null)
    return `The request is still running: it is in the ${stage} stage, and there is no answer yet.`;
  if (entry.fault !== null) return explainFault(entry.fault, entry, texts);
  if (status === null) return 'The client disconnected before there was an answer.';
  switch (stage) {
    case 'listener':
      return 'This port cannot accept the request. The body of the answer says why.';
    case 'authority':
      return status === 421
        ? 'The connection was opened for another hostname.'
        : 'The request does not state clearly which host it is for.';
    case 'route':
      return `No project is served at ${entry.authority ?? ''}.`;
    case 'redirect':
      return 'The project sends this hostname on to another.';
    case 'identify':
      if (route === null) return 'The token is of no connection to the provider’s API.';
      return 'There was no valid API key of this project. It was counted for the address.';
    case 'limit':
      return decision === null ? 'The limit stage answered.' : explainLimit(decision);
    case 'break':
    case 'target':
      if (route?.target.kind === 'provider') return `${simulated(route.target.provider)} answered.`;
      return route?.target.kind === 'upstream'
        ? explainUpstream(entry, route.target.url)
        : 'The built-in API answered.';
  }
}

function explainFault(
  { entry }: NonNullable<Entry['fault']>,
  exchange: Entry,
  texts: Pick<Presentation, 'titleOf'>,
): string {
  if (entry === DRILL_ENTRY) return 'A running drill changed this exchange; it is up to you to find out how.';
  if (entry.startsWith('tls.')) {
    const answered = explain({ ...exchange, fault: null }, texts);
    return `${answered} The break “${texts.titleOf(entry)}” changed the handshake of its connection, on purpose.`;
  }
  switch (exchange.stage) {
    case 'break':
      return `The break “${texts.titleOf(entry)}” answered in place of the target, on purpose.`;
    case 'target':
      return `The target answered, and the break “${texts.titleOf(entry)}” spoiled the answer, on purpose.`;
    default:
      // The request never reached the target.
      return `${explain({ ...exchange, fault: null }, texts)} The break “${texts.titleOf(entry)}” spoiled the answer, on purpose.`;
  }
}

/** Omits the time, which `rate` has and readers show in their own time zone. */
function explainLimit({ refusal, rate }: NonNullable<Entry['decision']>): string {
  return refusal?.window === undefined
    ? 'The API key is banned, because it kept sending requests after refusals.'
    : `The limit of ${rate.limit} requests per ${refusal.window} was used up.`;
}

function explainUpstream({ status, aborted, byProxy, record }: Entry, url: string): string {
  const { origin, host } = new URL(url);
  if (status === 101) return `The upstream ${origin} switched protocols; the connection was a tunnel from then on.`;
  if (byProxy) {
    return status === 508
      ? 'The proxy answered: the request loops.'
      : `${factIn(record.responseBody) ?? `${host} gave no answer.`} The proxy answered ${status} in its place.`;
  }
  if (aborted) return `The upstream ${origin} answered, and the exchange ended before its answer was complete.`;
  return `The upstream ${origin} answered.`;
}

/** The message of the proxy's own answer, as JSON or on its page, up to its advice. */
const OWN_MESSAGE = /"message":"([^"]+?\.)[ "]|<p>([^<]+?\.)[ <]/;

/** What happened to the upstream, as the proxy's own answer says it; undefined if bodies are not recorded. */
function factIn({ chunks }: RecordedBody): string | undefined {
  const [, fromJson, fromPage] = OWN_MESSAGE.exec(chunks.map(String).join('')) ?? [];
  return fromJson ?? fromPage;
}

/** Content codings that can be decoded for display (RFC 9110, section 8.4.1). */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** Limit on one decoded body: a few kilobytes can decompress to gigabytes. */
export const DECODED_BYTES_MAX = 1024 * 1024;

const ALIASES: Record<string, Coding> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br', zstd: 'zstd' };

export interface Decoded {
  coding: Coding;
  bytes: Buffer;
}

/**
 * Decodes a possibly truncated body with one content coding. Null for several or unknown codings, and for results
 * larger than `bytesMax`.
 */
export function decode(bytes: Buffer, contentEncoding: string | undefined, bytesMax: number): Decoded | null {
  const coding = ALIASES[(contentEncoding ?? '').trim().toLowerCase()];
  if (coding === undefined || bytesMax <= 0) return null;
  return orElse(() => ({ coding, bytes: DECODERS[coding](bytes, bytesMax) }), null);
}

const DECODERS: Record<Coding, (bytes: Buffer, maxOutputLength: number) => Buffer> = {
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  // "deflate" means zlib's format, but some servers send raw deflate.
  deflate(bytes, maxOutputLength) {
    const options = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH };
    const isZlib = ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0;
    return isZlib ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
  },
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush }),
};
