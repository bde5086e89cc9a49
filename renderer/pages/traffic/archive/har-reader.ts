import { orElse } from '../../../../main/contract/errors.ts';
import { isRecord, JsonElements } from '../../../../main/base/text/exact-json.ts';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { textPieces, UnreadableFileError } from '../../../shared/display/text-pieces.ts';
import type { HeaderField } from '../../../../main/contract/api.ts';

export const FILE_BYTES_MAX = 64 * 1024 * 1024;
export const ARCHIVED_MAX = 10_000;

/** The requests of a HAR file, newest first. */
export interface Archive {
  name: string;
  entries: readonly TrafficDetail[];
  /** How many entries were left out, and why the first of them was. */
  left: { count: number; reason: string } | undefined;
}

/**
 * Reads an HTTP archive (HAR 1.2) piece by piece, so the page stays responsive.
 * @throws UnreadableFileError when it is not one, or too large
 */
export async function openArchive(file: Blob & { name: string }): Promise<Archive> {
  if (file.size > FILE_BYTES_MAX) {
    throw new UnreadableFileError(
      `${file.name} has ${Math.round(file.size / 1_000_000)} MB; a file of up to 64 MiB can be opened. Export fewer requests.`,
    );
  }
  const reader = new EntryReader();
  const entries: TrafficDetail[] = [];
  let left: Archive['left'];
  let count = 0;
  const leave = (reason: string): void => {
    left = { count: (left?.count ?? 0) + 1, reason: left?.reason ?? reason };
  };
  for await (const { text } of textPieces(file)) {
    for (const element of reader.read(text)) {
      count += 1;
      if (entries.length === ARCHIVED_MAX) {
        leave('a list has 10,000 entries at most.');
        continue;
      }
      try {
        entries.push(harDetail(parse(element), count));
      } catch (error) {
        if (!(error instanceof HarFault)) throw error;
        leave(`entry ${count} ${error.message}: ${excerpt(element)}`);
      }
    }
  }
  reader.end();
  if (entries.length === 0) {
    throw new UnreadableFileError(
      left === undefined ? 'Its log has no entries.' : `None of its entries can be shown: ${left.reason}`,
    );
  }
  entries.sort((a, b) => (a.realAt < b.realAt ? 1 : a.realAt > b.realAt ? -1 : 0));
  return { name: file.name, entries, left };
}

function parse(element: string): unknown {
  try {
    return JSON.parse(element);
  } catch (error) {
    throw new HarFault(`is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

const excerpt = (text: string): string => {
  const [first = '', ...others] =
    text
      .trim()
      .replaceAll(/\s+/g, ' ')
      .match(/.{1,80}/gu) ?? [];
  return others.length === 0 ? first : `${first}…`;
};

/** Reads the elements of `log.entries` in a JSON text that comes in pieces. */
class EntryReader {
  readonly #entries = new JsonElements(['log', 'entries']);
  #isEmpty = true;

  read(piece: string): string[] {
    if (this.#isEmpty) {
      const start = piece.search(/[^\s\uFEFF]/);
      if (start >= 0 && piece.charAt(start) !== '{') {
        throw new UnreadableFileError(
          `It is not a HAR file: it must begin with {"log": …, but begins with ${excerpt(piece.slice(start, start + 200))}`,
        );
      }
      this.#isEmpty = start < 0;
    }
    return this.#entries.read(piece).filter((element) => element.trim() !== '');
  }

  /** @throws UnreadableFileError when the text had no entries, or ended within them */
  end(): void {
    if (this.#entries.state === 'after') return;
    throw new UnreadableFileError(
      this.#entries.state === 'inside'
        ? `It ends in the middle of an entry: ${excerpt(this.#entries.begun)}`
        : this.#isEmpty
          ? 'It is empty.'
          : 'It is not a HAR file: it has no list "entries" in an object "log".',
    );
  }
}

/** Why an entry can't be shown: "has no request". */
class HarFault extends Error {
  override readonly name = 'HarFault';
}

/** The part of a body that Vivarium records, in characters. */
const BODY_MAX = 64 * 1024;

const PREFIX = 'har_';

export const isArchived = (id: string): boolean => id.startsWith(PREFIX);

/**
 * An entry of an archive (HAR 1.2, section `entries`) as a recorded one; what only Vivarium knows is left empty.
 * @throws HarFault
 */
function harDetail(value: unknown, number: number): TrafficDetail {
  const entry = objectIn(value, 'is not an object');
  const request = objectIn(entry['request'], 'has no request');
  const response = objectIn(entry['response'] ?? {}, 'has a response that is not an object');
  const url = URL.parse(textIn(request['url']));
  if (url === null || !/^(?:http|ws)s?:$/.test(url.protocol))
    throw new HarFault(`has no HTTP address as request.url (${textIn(request['url']).slice(0, 80) || 'none'})`);
  const method = textIn(request['method']);
  if (method === '') throw new HarFault('has no request.method');
  const at = instantIn(entry['startedDateTime']);
  const timings = objectIn(entry['timings'] ?? {}, 'has timings that are not an object');
  const durationMs = countIn(entry['time']);
  const receivingMs = Math.min(durationMs, countIn(timings['receive']));
  const status = countIn(response['status']);
  const requestBody = sentBody(request['postData']);
  const content = isRecord(response['content']) ? response['content'] : {};
  const responseBody = bodyOf(textIn(content['text']), content['encoding'] === 'base64', countIn(content['size']));
  return {
    id: `${PREFIX}${number}`,
    at,
    realAt: at,
    method,
    target: url.pathname + url.search,
    scheme: url.protocol === 'https:' || url.protocol === 'wss:' ? 'https' : 'http',
    httpVersion: versionIn(textIn(response['httpVersion']) || textIn(request['httpVersion'])),
    authority: url.host,
    status: status === 0 ? null : status,
    stage: 'target',
    ...struckBy(entry['_fault']),
    answeredBy: 'upstream',
    address: '',
    requestBytes: Math.max(countIn(request['bodySize']), requestBody?.bytes ?? 0),
    responseBytes: Math.max(countIn(response['bodySize']), responseBody?.bytes ?? 0),
    firstByteMs: durationMs - receivingMs,
    durationMs,
    aborted: false,
    explanation: '',
    timings: [
      { part: 'waiting', ms: durationMs - receivingMs },
      { part: 'receiving', ms: receivingMs },
    ],
    rate: null,
    requestHeaders: fieldsIn(request['headers']),
    responseHeaders: fieldsIn(response['headers']),
    requestBody,
    responseBody,
  };
}

type JsonObject = Record<string, unknown>;

function objectIn(value: unknown, fault: string): JsonObject {
  if (!isRecord(value)) throw new HarFault(fault);
  return value;
}

/** The break that struck, as Vivarium's own archives have it. */
function struckBy(value: unknown): Pick<TrafficDetail, 'fault'> {
  if (!isRecord(value) || typeof value['entry'] !== 'string') return {};
  return { fault: { entry: value['entry'], breakId: textIn(value['breakId']) } };
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Archives use -1 for unknown values. */
const countIn = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

function instantIn(value: unknown): string {
  const at = new Date(textIn(value));
  if (Number.isNaN(at.getTime())) throw new HarFault('has no valid startedDateTime');
  return at.toISOString();
}

const versionIn = (text: string): string => {
  const version = /^(?:HTTP\/|h)(\d(?:\.\d)?)/i.exec(text)?.[1] ?? '1.1';
  return version === '2' ? '2.0' : version;
};

function fieldsIn(value: unknown): HeaderField[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isRecord)
    .map((field) => ({ name: textIn(field['name']), value: textIn(field['value']) }))
    .filter(({ name }) => name !== '' && !name.startsWith(':'));
}

/** `params` in place of `text`: a form. */
function sentBody(value: unknown): TrafficDetail['requestBody'] {
  if (!isRecord(value)) return null;
  const text = textIn(value['text']);
  if (text !== '' || !Array.isArray(value['params'])) return bodyOf(text, value['comment'] === 'base64', 0);
  const pairs = value['params']
    .filter(isRecord)
    .map(({ name, value: given }): [string, string] => [textIn(name), textIn(given)]);
  return bodyOf(new URLSearchParams(pairs).toString(), false, 0);
}

function bodyOf(text: string, isBase64: boolean, bytes: number): TrafficDetail['responseBody'] {
  if (text === '') return null;
  // Four characters of base64 are three bytes.
  const shown = text.slice(0, isBase64 ? Math.floor(BODY_MAX / 3) * 4 : BODY_MAX);
  const decoded = isBase64 ? bytesIn(shown) : undefined;
  const readable = decoded === undefined ? shown : utf8In(decoded);
  return {
    text: readable ?? shown,
    encoding: readable === undefined ? 'base64' : 'utf8',
    bytes: Math.max(bytes, decoded === undefined ? text.length : Math.floor((text.length * 3) / 4) - 2),
    cut: shown.length < text.length,
  };
}

/** Undefined if it is not base64; then it is shown unchanged. */
const bytesIn = (base64: string): Uint8Array | undefined =>
  orElse(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)), undefined);

/** Undefined if the bytes are not text. A cut text may end within a character. */
const utf8In = (bytes: Uint8Array): string | undefined =>
  orElse(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }), undefined);
