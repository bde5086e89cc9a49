import type { ErrorCode } from '../contract/errors.ts';
import { ERROR_CATALOGUE } from '../contract/errors.ts';
import { errorBody } from './schemas.ts';
import { serializerOf } from './serializer.ts';

/** A JSON text ready for the wire. */
export interface Body {
  text: string;
  /** `latin1` when the text is ASCII: the same bytes, written without a conversion. */
  encoding: 'latin1' | 'utf8';
  /** The length in bytes, as the Content-Length header has it. */
  length: string;
}

/** What a request is answered with, beyond the headers that every answer has. */
export interface Answer {
  status: number;
  /** Null for 204. */
  body: Body | null;
  /** Flat: name, value, name, value, … */
  headers: readonly string[];
}

const NO_HEADERS: readonly string[] = [];
const serializeError = serializerOf(errorBody);

export function bodyOf(text: string): Body {
  const bytes = Buffer.byteLength(text);
  // Every character beyond ASCII has more bytes than UTF-16 units, so equal counts mean ASCII throughout.
  return { text, encoding: bytes === text.length ? 'latin1' : 'utf8', length: String(bytes) };
}

export function success(status: 200 | 201, body: Body, headers: readonly string[] = NO_HEADERS): Answer {
  return { status, body, headers };
}

export function noContent(headers: readonly string[]): Answer {
  return { status: 204, body: null, headers };
}

/** The Error body of the specification, `{code, message, status}`, with the status of the code. */
export function failure(code: ErrorCode, message: string, headers: readonly string[] = NO_HEADERS): Answer {
  const { status } = ERROR_CATALOGUE[code];
  return { status, body: bodyOf(serializeError({ code, message, status })), headers };
}
