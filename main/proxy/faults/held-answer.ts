import type { ServerResponse } from 'node:http';
import { asHttp1, type HttpResponse, pairsOf, withoutFields, isHttp2 } from '../../base/http/message.ts';
import { endWithHead, toHttp2 } from '../upstream/relay.ts';
import type { Clock, EpochMs } from '../../base/clock.ts';
import type { Fault } from '../../model/fault.ts';
import type { Problem } from '../../model/problem.ts';
import type { RateState } from '../../model/rate-decision.ts';
import type { Answer } from '../../base/http/answer.ts';
import { cutExchange, type Exchange } from '../front/connection.ts';

/** A request that a running break has chosen. */
export interface Struck {
  exchange: Exchange;
  fault: Fault;
  /** The scheme and authority that the client requested. */
  origin: string;
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  realNow: () => EpochMs;
  /** Null without limits. */
  rate: RateState | null;
  /** Answers in the format of the target. */
  refuse(problem: Problem, rate?: RateState): void;
  /** Called if the fault turns out to have no effect. */
  giveBack: () => void;
  /** Sends the proxy's own answer. */
  answer(answer: Answer): void;
}

/** Answered instead of by the target, passed on to the target, or left unbroken because the fault does not fit. */
export type Outcome = 'answered' | 'passes' | 'unfit';

/** How an entry breaks a request: before the target gets it, or by changing its complete answer. */
export type Breaking =
  | { instead: (struck: Struck) => Outcome }
  /** Returns whether the fault fits the answer; if not, the answer passes unchanged. */
  | { afterwards: (struck: Struck, answer: HeldAnswer) => boolean };

export const numberOf = ({ fault }: Pick<Struck, 'fault'>, name: string): number => Number(fault.parameters[name]);

/** Writes the last bytes of an HTTP/1.x connection directly, then ends our side of it. */
export function endByHand({ exchange, clock }: Pick<Struck, 'exchange' | 'clock'>, bytes: Buffer | string): void {
  const { connection, request } = exchange;
  // Answers follow the order of requests, and these bytes would overtake earlier ones.
  if (isHttp2(request) || connection.exchanges[0] !== exchange || connection.http1 === null) {
    cutExchange(exchange);
    return;
  }
  connection.phase = 'closing';
  connection.sinceMs = clock.monotonic();
  connection.http1.end(bytes);
}

/** A target's complete answer, not yet sent to the client. */
export interface HeldAnswer {
  status: number;
  /** Empty for the standard reason phrase. */
  reason: string;
  /** Flat: name, value, name, value, … */
  fields: readonly string[];
  body: Buffer;
}

/** A longer body passes unchanged, because it would have to be kept in memory. */
const HELD_BYTES_MAX = 8 * 1024 * 1024;

type Fields = readonly string[] | Record<string, number | string | readonly string[] | undefined>;
type Method = 'writeHead' | 'flushHeaders' | 'write' | 'end';

/**
 * Holds a target's writes to `response` until it has ended; then passes the answer to `onComplete`, with the response
 * restored. A long body or an event stream passes instead, after `onPassing`.
 */
export function holdAnswer(
  response: HttpResponse,
  { onComplete, onPassing }: { onComplete: (answer: HeldAnswer) => void; onPassing: () => void },
): void {
  const target = asHttp1(response);
  const before = new Map<Method, PropertyDescriptor | undefined>();
  let head: Omit<HeldAnswer, 'body'> | null = null;
  let chunks: Buffer[] = [];
  let bytes = 0;

  function replace(method: Method, work: (...args: never[]) => unknown): void {
    before.set(method, Object.getOwnPropertyDescriptor(target, method));
    Object.defineProperty(target, method, { value: work, configurable: true, writable: true });
  }

  function release(): void {
    for (const [method, own] of before) {
      if (own === undefined) Reflect.deleteProperty(target, method);
      else Object.defineProperty(target, method, own);
    }
  }

  function pass(): void {
    release();
    onPassing();
    if (head !== null) writeHeldHead(response, head);
    for (const chunk of chunks) target.write(chunk);
  }

  function take(chunk: unknown, encoding: unknown): boolean {
    if (chunk === undefined || chunk === null || typeof chunk === 'function') return true;
    const taken =
      typeof chunk === 'string' ? Buffer.from(chunk, asEncoding(encoding)) : Buffer.from(chunk as Uint8Array);
    chunks.push(taken);
    bytes += taken.length;
    return bytes <= HELD_BYTES_MAX;
  }

  replace('writeHead', (status: number, ...rest: unknown[]): ServerResponse => {
    const reason = typeof rest[0] === 'string' ? rest[0] : '';
    const fields = (typeof rest[0] === 'string' ? rest[1] : rest[0]) as Fields | undefined;
    // A second time for a failure that replaces the answer so far.
    head = { status, reason, fields: flat(fields ?? []) };
    chunks = [];
    bytes = 0;
    if (isEventStream(head.fields)) pass();
    return target;
  });
  replace('flushHeaders', () => undefined);
  replace('write', (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    if (!take(chunk, encoding)) pass();
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') queueMicrotask(() => (done as () => void)());
    return true;
  });
  replace('end', (chunk?: unknown, encoding?: unknown): ServerResponse => {
    if (!take(chunk, encoding)) {
      pass();
      return target.end();
    }
    release();
    onComplete({ ...(head ?? takeHead(target)), body: Buffer.concat(chunks) });
    return target;
  });
}

/** Takes a head back that was to be written with the end. */
function takeHead(target: ServerResponse): Omit<HeldAnswer, 'body'> {
  const fields = flat(target.getHeaders());
  for (const name of target.getHeaderNames()) target.removeHeader(name);
  return { status: target.statusCode, reason: '', fields };
}

const asEncoding = (encoding: unknown): BufferEncoding => (encoding === 'latin1' ? 'latin1' : 'utf8');

const isEventStream = (fields: readonly string[]): boolean =>
  fieldOf(fields, 'content-type')?.startsWith('text/event-stream') === true;

const isFlat = (fields: Fields): fields is readonly string[] => Array.isArray(fields);

function flat(fields: Fields): readonly string[] {
  if (isFlat(fields)) return fields;
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().flatMap((each) => [name, String(each)]),
  );
}

/** The first value of a field, by its name in lower case. */
export const fieldOf = (fields: readonly string[], name: string): string | undefined =>
  pairsOf(fields).find(([each]) => each.toLowerCase() === name)?.[1];

/** The fields except those with these lower-case names, followed by more: name, value, … */
export const changedFields = (
  fields: readonly string[],
  without: readonly string[],
  more: readonly string[] = [],
): string[] => [...withoutFields(fields, (name) => without.includes(name)), ...more];

export function writeHeldHead(response: HttpResponse, { status, reason, fields }: Omit<HeldAnswer, 'body'>): void {
  const target = asHttp1(response);
  if ('stream' in response) target.writeHead(status, toHttp2(fields));
  else if (reason === '') target.writeHead(status, fields as string[]);
  else target.writeHead(status, reason, fields as string[]);
}

export function writeHeld(response: HttpResponse, answer: HeldAnswer): void {
  if ('stream' in response && answer.body.length === 0) return endWithHead(response, answer.status, answer.fields);
  writeHeldHead(response, answer);
  asHttp1(response).end(answer.body);
}

/** A JSON string, or an integer outside of strings. */
const STRING_OR_INTEGER = /"(?:[^"\\]|\\.)*"|-?\b\d+\b(?![.eE])/g;

/** The text with each integer beyond ±(2^53−1) rounded as by a double; null without one. */
export function roundIntegers(json: string): string | null {
  let found = false;
  const text = json.replace(STRING_OR_INTEGER, (token) => {
    if (token.startsWith('"') || Number.isSafeInteger(Number(token))) return token;
    const rounded = BigInt(Number(token)).toString();
    found ||= rounded !== token;
    return rounded;
  });
  return found ? text : null;
}

/** An object without nested objects, with its first name; strings may contain braces. */
const FLAT_OBJECT = /\{\s*("(?:[^"\\]|\\.)*")\s*:(?:[^"{}]|"(?:[^"\\]|\\.)*")*\}/;

/** The text with the first name of an object repeated at its end, with null; null without an object. */
export function repeatKey(json: string): string | null {
  const found = FLAT_OBJECT.exec(json);
  if (found === null) return null;
  const [whole, name = ''] = found;
  return json.replace(whole, () => `${whole.slice(0, -1)},${name}:null}`);
}

/** The bytes with two that are not UTF-8 inserted in a string; null without a string. */
export function spoilText(json: Buffer): Buffer | null {
  const at = json.lastIndexOf('"');
  return at === -1 ? null : Buffer.concat([json.subarray(0, at), Buffer.from([0xc3, 0x28]), json.subarray(at)]);
}

const ID = /"id"\s*:\s*(-?\d+)/g;

/** The second-last id of a list: continuing after it repeats the last element; null without two. */
export function idBeforeLast(json: string): string | null {
  const ids = [...json.matchAll(ID)].map(([, id]) => id);
  return ids.at(-2) ?? null;
}
