import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Timer } from '../base/clock.ts';
import { cutOff, drain, hasUnreadBody } from '../base/http/message.ts';
import { invalidRequest, VivariumError } from '../contract/errors.ts';
import { IMPORT_TEXT_MAX } from '../contract/pets.ts';

/**
 * The largest input is an import's text, in which JSON escapes quotes and line ends with two characters each; the rest
 * is for the other fields.
 */
export const BODY_BYTES_MAX = 2 * IMPORT_TEXT_MAX + 64 * 1024;

/** Bytes drained from a refused client, to let it read the answer instead of a connection reset. */
const DRAIN_BYTES_MAX = 64 * 1024 * 1024;
const DRAIN_MS_MAX = 5_000;

/**
 * Parses the JSON body of a request; `undefined` without a body. Ignores the media type: scripts forget it, and the
 * token has been checked.
 * @throws VivariumError `payload_too_large` (bytes or strings), `unsupported_media_type` for a content coding, `invalid_request` for
 * malformed JSON.
 */
export async function readJsonBody(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    throw new VivariumError('unsupported_media_type', 'The body must be plain JSON, without a Content-Encoding.');
  }
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  // Only now, so a client that sends `Expect` does not upload a body that would be refused.
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  return parseJson(await readBytes(request));
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks, bytes);
}

/** Strings of one input. `JSON.parse` takes microseconds for each new property name, while nothing else can run. */
export const STRINGS_MAX = 100_000;

/** Whether a text in JSON has more strings than any input: the quote that begins one never follows a backslash. */
export function hasTooManyStrings(bytes: Uint8Array): boolean {
  let quotes = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x22 && bytes[at - 1] !== 0x5c) quotes++;
  return quotes > 2 * STRINGS_MAX;
}

function parseJson(bytes: Buffer): unknown {
  if (hasTooManyStrings(bytes)) {
    const most = STRINGS_MAX.toLocaleString('en');
    throw new VivariumError(
      'payload_too_large',
      `The body must have at most ${most} strings, names of properties included.`,
    );
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidRequest('The body is not UTF-8.', { cause });
  }
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidRequest(`The body is not JSON: ${(cause as Error).message}.`, { cause });
  }
}

const tooLarge = (): VivariumError =>
  new VivariumError('payload_too_large', `The body must be at most ${BODY_BYTES_MAX.toLocaleString('en')} bytes long.`);

/** Drains a refused client's body within bounds, then closes the connection. */
export function drainRefused(request: IncomingMessage, clock: Pick<Clock, 'realTimer'>): void {
  if (!hasUnreadBody(request)) return;
  const timer = (onTime: () => void): Timer => clock.realTimer(DRAIN_MS_MAX, onTime);
  drain(request, { bytesMax: DRAIN_BYTES_MAX, timer }, (end) => {
    if (end === 'bound') cutOff(request);
  });
}
