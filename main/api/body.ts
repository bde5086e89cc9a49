import { isUtf8 } from 'node:buffer';
import { VivariumError } from '../contract/errors.ts';
import { hasBody, type HttpRequest } from '../base/http/message.ts';
import { unsupportedBody } from './media-type.ts';

/** Limit on bodies: 1 MiB, hundreds of times the size of a pet with the longest name. */
export const BODY_BYTES_MAX = 1024 * 1024;

const FIRST_BYTES = 4 * 1024;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Reads the request body as text; empty if there is none. If the client disconnects, the promise never settles.
 * @throws VivariumError 415 if the headers do not declare plain JSON in UTF-8, 413 if Content-Length or the actual size
 *   exceeds BODY_BYTES_MAX, 400 if the bytes are not UTF-8.
 */
export async function readBody(request: HttpRequest): Promise<string> {
  const bodied = hasBody(request);
  const declared = bodied || request.headers['content-type'] !== undefined;
  const unsupported = declared ? unsupportedBody(request.headers) : null;
  if (unsupported !== null) throw unsupported;
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  // An HTTP/1.1 request without a body emits no events.
  if (!bodied) return '';
  const bytes = await collect(request);
  if (bytes === null) throw tooLarge();
  if (!isUtf8(bytes)) throw invalid('The body is not valid UTF-8; send JSON in UTF-8.');
  const text = bytes.toString('utf8');
  if (text.startsWith(BYTE_ORDER_MARK)) {
    throw invalid('The body begins with a byte order mark, which JSON must not have (RFC 8259 §8.1); leave it out.');
  }
  return text;
}

/**
 * Collects the body, or resolves with null once it exceeds the limit. Chunks are copied into one growing buffer: a body
 * sent in one-byte chunks would otherwise take a hundred times its size.
 */
function collect(request: HttpRequest): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  const stop = (): void => {
    request.off('data', onData).off('end', onEnd).off('close', stop);
  };
  const onData = (chunk: Buffer): void => {
    const total = length + chunk.length;
    if (total > BODY_BYTES_MAX) {
      stop();
      resolve(null);
      return;
    }
    if (total > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(total, Math.min(buffer.length * 2, BODY_BYTES_MAX), FIRST_BYTES));
      buffer.copy(grown, 0, 0, length);
      buffer = grown;
    }
    chunk.copy(buffer, length);
    length = total;
  };
  const onEnd = (): void => {
    stop();
    resolve(buffer.subarray(0, length));
  };

  // A reset emits both error and close; the close handler cleans up.
  request.on('error', () => undefined);
  request.on('data', onData).once('end', onEnd).once('close', stop);
  return promise;
}

function tooLarge(): VivariumError {
  return new VivariumError(
    'payload_too_large',
    `The body is larger than ${BODY_BYTES_MAX.toLocaleString('en')} bytes; a pet needs far less.`,
  );
}

function invalid(message: string): VivariumError {
  return new VivariumError('invalid_request', message);
}
