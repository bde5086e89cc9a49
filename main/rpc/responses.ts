import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { rawResponse } from '../base/http/answer.ts';
import {
  ERROR_CATALOGUE,
  type ErrorCode,
  type Failure,
  type InputIssue,
  internalError,
  VivariumError,
} from '../contract/errors.ts';
import { nextTurn } from '../base/turns.ts';
import { ORPCError } from '@orpc/server';

type CatalogueError = ORPCError<ErrorCode, { issues: readonly InputIssue[] } | undefined>;

/** Converts a catalogue error to oRPC's form, keeping code, status and message. */
export function toTransportError(error: VivariumError): CatalogueError {
  return new ORPCError<ErrorCode, { issues: readonly InputIssue[] } | undefined>(error.code, {
    status: error.status,
    message: error.message,
    data: error.issues.length > 0 ? { issues: error.issues } : undefined,
    cause: error,
  });
}

/** Whether an error is from the catalogue and may be shown to the caller unchanged. */
export const isCatalogueError = (error: unknown): error is CatalogueError =>
  error instanceof ORPCError && Object.hasOwn(ERROR_CATALOGUE, error.code);

/** Status and body of an HTTP answer. Hides the cause of errors from outside the catalogue. */
export function toFailure(error: unknown): { status: number; body: Failure } {
  if (error instanceof VivariumError) return toFailure(toTransportError(error));
  if (!isCatalogueError(error)) return toFailure(internalError(INTERNAL_ERROR_MESSAGE));
  const { code, message, status, data } = error;
  return { status, body: { code, message, ...(data === undefined ? {} : { issues: data.issues }) } };
}

export const INTERNAL_ERROR_MESSAGE = 'Vivarium failed; its log has the reason.';

/** Headers of every answer of the control port. It never sends CORS headers. */
export const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** @throws VivariumError `method_not_allowed` for a method that is none of those, after setting `Allow` */
export function requireMethod(
  { method = '' }: IncomingMessage,
  response: ServerResponse,
  allowed: readonly string[],
  message = `This path accepts ${allowed.join(' and ')} only.`,
): void {
  if (allowed.includes(method)) return;
  response.setHeader('Allow', allowed.join(', '));
  throw new VivariumError('method_not_allowed', message);
}

export const READ = ['GET', 'HEAD'];

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with content that no cache may keep; to HEAD, with its header. Does nothing when the client has gone. */
export function sendContent(
  response: ServerResponse,
  status: number,
  content: string | Uint8Array,
  headers: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const common = { ...COMMON_HEADERS, 'Cache-Control': 'no-store', 'Content-Length': Buffer.byteLength(content) };
  response.writeHead(status, { ...common, ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : content);
}

/** Answers with the JSON in `text`. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  text: string | Buffer,
  headers: Record<string, string> = {},
): void => sendContent(response, status, text, { 'Content-Type': JSON_TYPE, ...headers });

/** Answers with the error's status and its body `{code, message, …}`. */
export function sendFailure(response: ServerResponse, error: unknown, headers: Record<string, string> = {}): void {
  const { status, text } = failureText(error);
  const challenge: Record<string, string> = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  sendJson(response, status, text, { ...challenge, ...headers });
}

/** Status and JSON of an answer. Never throws: an error that can't be serialized becomes an `internal_error`. */
function failureText(error: unknown): { status: number; text: string } {
  try {
    const { status, body } = toFailure(error);
    return { status, text: JSON.stringify(body) };
  } catch (cause) {
    const { status, body } = toFailure(internalError(INTERNAL_ERROR_MESSAGE, { cause }));
    return { status, text: JSON.stringify(body) };
  }
}

/** The same for a bare connection without a response object: before an upgrade, and for malformed requests. */
export function refuseConnection(socket: Duplex, error: unknown, statusInstead?: number): void {
  socket.on('error', () => undefined);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const failure = failureText(error);
  const status = statusInstead ?? failure.status;
  socket.end(rawResponse(status, Object.entries(COMMON_HEADERS).flat(), failure.text), () => socket.destroy());
}

/** Array elements written before yielding to the event loop. */
const ELEMENTS_PER_TURN = 100;

/** Shorter answers contain no long arrays. */
const DEPTH_MAX = 2;

/**
 * Writes JSON exactly as `JSON.stringify`, but yields within long arrays: writing 20 MB at once would block all
 * requests.
 */
export async function jsonInTurns(value: unknown): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const text of piecesOf(value, 0)) pieces.push(Buffer.from(text));
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

async function* piecesOf(value: unknown, depth: number): AsyncGenerator<string, void, void> {
  if (Array.isArray(value) && value.length > ELEMENTS_PER_TURN) yield* elementsOf(value);
  else if (depth <= DEPTH_MAX && hasLongArray(value, DEPTH_MAX - depth)) yield* membersOf(value, depth);
  else yield JSON.stringify(value ?? null);
}

async function* elementsOf(array: readonly unknown[]): AsyncGenerator<string, void, void> {
  for (let start = 0; start < array.length; start += ELEMENTS_PER_TURN) {
    const group = JSON.stringify(array.slice(start, start + ELEMENTS_PER_TURN)).slice(1, -1);
    yield `${start === 0 ? '[' : ','}${group}`;
    await nextTurn();
  }
  yield ']';
}

async function* membersOf(
  record: Readonly<Record<string, unknown>>,
  depth: number,
): AsyncGenerator<string, void, void> {
  let separator = '{';
  for (const [name, member] of Object.entries(record)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* piecesOf(member, depth + 1);
    separator = ',';
  }
  yield '}';
}

/** Whether a record contains a long array anywhere and must be written member by member. */
function hasLongArray(value: unknown, depth: number): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'toJSON' in value) return false;
  return Object.values(value).some(
    (member) =>
      (Array.isArray(member) && member.length > ELEMENTS_PER_TURN) || (depth > 0 && hasLongArray(member, depth - 1)),
  );
}
