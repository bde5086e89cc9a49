import type { IncomingMessage } from 'node:http';
import { realTime, type RealTime } from '../../base/clock.ts';
import { FORM_HEADER, formHeader } from '../../base/system/own-command.ts';
import { type Failure, VivariumError } from '../../contract/errors.ts';
import { isReading } from '../../contract/calls.ts';
import { RemoteFailure, failureOf } from '../text/io.ts';
import { type Running, readRuntime } from '../../base/system/runtime-file.ts';
import { NotRunningError, findRunning } from './running.ts';
import type { Ask, ProcedureName, ResultOf } from '../../contract/index.ts';
import type { StatusReport } from '../../contract/status.ts';

/** Without `import`, which reads all exports of `node:http` and thereby loads undici: a fifth of a call's time. */
const { request } = process.getBuiltinModule('node:http');

/** Result of a call: one JSON text, or a stream of JSON texts. */
export type Reply = { kind: 'result'; json: string } | { kind: 'stream'; values: AsyncIterable<string> };

/** On this machine, an engine that takes longer to answer `/healthz` or `status.get` hangs. */
export const ANSWER_MS_MAX = 5_000;

const CALL_NAME = /^[a-z][A-Za-z0-9]*\.[a-z][A-Za-z0-9]*$/;

/**
 * Calls `namespace.procedure` with `json` as its input; an empty text sends no input.
 * @throws RemoteFailure with the server's error, NotRunningError when the connection fails, VivariumError `unavailable`
 * when the engine hangs.
 */
export async function callProcedure(
  running: Running,
  name: string,
  json: string,
  signal?: AbortSignal,
  time: Pick<RealTime, 'schedule'> = realTime,
): Promise<Reply> {
  if (!CALL_NAME.test(name)) {
    throw new VivariumError('invalid_request', `${JSON.stringify(name)} is not a procedure name, such as "pets.list".`);
  }
  try {
    return await ask(running, name, json, signal, time);
  } catch (error) {
    if (isReading(name) || !(error instanceof VivariumError) || error.code !== 'unavailable') throw error;
    throw new VivariumError('unavailable', `${error.message} It is unknown whether the call was carried out.`, {
      cause: error.cause,
    });
  }
}

async function ask(
  running: Running,
  name: string,
  json: string,
  signal: AbortSignal | undefined,
  time: Pick<RealTime, 'schedule'>,
): Promise<Reply> {
  const response = await whileAlive(running, time, (hung) =>
    post(
      running,
      `/api/${name.replace('.', '/')}`,
      json,
      signal === undefined ? hung : AbortSignal.any([signal, hung]),
    ),
  );
  response.setEncoding('utf8');
  const chunks = response as AsyncIterable<string>;
  if (response.headers['content-type'] === 'text/event-stream')
    return { kind: 'stream', values: readValues(chunks, signal) };
  const text = await readAll(chunks);
  if (response.statusCode !== 200) throw new RemoteFailure(readFailure(text, response.statusCode ?? 0));
  return { kind: 'result', json: text };
}

/** The result of a call without a stream. @throws as `callProcedure` */
export async function askFor<Name extends ProcedureName>(
  running: Running,
  name: Name,
  input: object = {},
  signal?: AbortSignal,
): Promise<ResultOf<Name>> {
  const reply = await callProcedure(running, name, JSON.stringify(input), signal);
  if (reply.kind === 'stream') throw new Error(`${name} is a stream.`);
  return JSON.parse(reply.json) as ResultOf<Name>;
}

/** Calls procedures of the Vivarium that is found at each call. */
export const asking =
  (find: () => Running, signal?: AbortSignal): Ask =>
  (procedure, input) =>
    askFor(find(), procedure, input, signal);

/** Waits for `call` as long as it takes, unless the engine hangs: a long call leaves `/healthz` answered. */
async function whileAlive<Result>(
  running: Running,
  { schedule }: Pick<RealTime, 'schedule'>,
  call: (hung: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const hung = new AbortController();
  const over = new AbortController();
  const check = () => {
    timer = schedule(ANSWER_MS_MAX, () => hung.abort());
    void askHealth(running.url, over.signal).then(() => {
      timer.cancel();
      if (!over.signal.aborted) timer = schedule(ANSWER_MS_MAX, check);
    });
  };
  let timer = schedule(ANSWER_MS_MAX, check);
  try {
    return await call(hung.signal);
  } catch (error) {
    throw hung.signal.aborted ? noAnswer(running) : error;
  } finally {
    timer.cancel();
    over.abort();
  }
}

export const noAnswer = ({ pid, url }: Running): VivariumError =>
  new VivariumError('unavailable', `Process ${pid} has not answered at ${url} for ${ANSWER_MS_MAX / 1_000} s.`);

/** The HTTP status of `/healthz`, asked without the token; null without an answer. */
export function askHealth(url: string, signal: AbortSignal): Promise<number | null> {
  return new Promise((resolve) => {
    const asking = request(new URL('/healthz', url), { agent: false, signal }, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
    asking.once('error', () => resolve(null));
    asking.end();
  });
}

function post(running: Running, path: string, json: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sending = request(
      new URL(path, running.url),
      {
        method: 'POST',
        agent: false,
        headers: {
          Authorization: `Bearer ${running.token}`,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(json),
          [FORM_HEADER]: formHeader(),
        },
        signal,
      },
      resolve,
    );
    sending.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNREFUSED') return reject(lost(error));
      reject(new NotRunningError(running.dataDir, `no answer at ${running.url}`, error));
    });
    sending.end(json);
  });
}

const lost = (cause: unknown): VivariumError =>
  new VivariumError('unavailable', 'Lost the connection to Vivarium: it stopped or restarted.', { cause });

async function readAll(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  try {
    for await (const chunk of chunks) text += chunk;
  } catch (error) {
    throw lost(error);
  }
  return text;
}

function readFailure(text: string, status: number): Failure {
  try {
    const failure = JSON.parse(text) as Partial<Failure> | null;
    if (typeof failure?.code === 'string' && typeof failure.message === 'string') return failure as Failure;
  } catch {
    // Reported below as not being a Vivarium server.
  }
  return { code: 'unavailable', message: `Not a Vivarium server (HTTP ${status}).` };
}

/** Yields the values of a stream until it ends or `signal` aborts. */
async function* readValues(
  chunks: AsyncIterable<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, void> {
  try {
    for await (const { event, data } of readEvents(chunks)) {
      if (event === 'done') return;
      if (event === 'error') throw new RemoteFailure(readFailure(data, 200));
      yield data;
    }
  } catch (error) {
    if (signal?.aborted === true) return;
    throw error instanceof RemoteFailure ? error : lost(error);
  }
  if (signal?.aborted !== true) throw lost(undefined);
}

/** One server-sent event from the control port. */
export interface StreamEvent {
  event: string;
  data: string;
}

/** Longer lines cannot come from Vivarium. */
const LINE_LENGTH_MAX = 64 * 1024 * 1024;

/** Parses server-sent events (WHATWG HTML §9.2) from chunks of text; skips comments. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent, void, void> {
  let event = '';
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (event !== '' || data.length > 0) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
    } else if (line.startsWith('event:')) {
      event = line.slice('event:'.length).trimStart();
    } else if (line.startsWith('data:')) {
      data.push(line.slice('data:'.length).replace(/^ /, ''));
    }
  }
}

async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let pending = '';
  for await (const chunk of chunks) {
    const lines = (pending + chunk).split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > LINE_LENGTH_MAX) throw new RangeError('A line of the stream is too long.');
    for (const line of lines) yield line.replace(/\r$/, '');
  }
}

/** An engine that answered with its own token. */
export interface AnsweringEngine {
  running: Running;
  report: StatusReport;
}

/**
 * Asks the Vivarium on a data folder for its status, which proves that the process in its runtime file is that
 * Vivarium.
 * @throws NotRunningError when none runs; VivariumError `unavailable` when something else answers, or nothing does.
 */
export async function askForStatus(dataDir: string): Promise<AnsweringEngine> {
  const running = findRunning(dataDir);
  const patience = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    const reply = await callProcedure(running, 'status.get', '', patience);
    if (reply.kind === 'result') return { running, report: JSON.parse(reply.json) as StatusReport };
  } catch (error) {
    if (error instanceof NotRunningError) throw error;
    if (patience.aborted) throw noAnswer(running);
    if (!(error instanceof RemoteFailure)) throw error;
    throw unavailable(`What answers at ${running.url} is not the Vivarium of ${dataDir}: ${failureOf(error).message}`);
  }
  throw unavailable(`What answers at ${running.url} is not a Vivarium.`);
}

/** The same; null when none runs. */
export async function findAnswering(dataDir: string): Promise<AnsweringEngine | null> {
  try {
    return await askForStatus(dataDir);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw error;
  }
}

/** Whether the Vivarium on a data folder listens on all its ports; one that does not answer in time does not. */
export async function isServing(dataDir: string, withinMs = ANSWER_MS_MAX): Promise<boolean> {
  const runtime = readRuntime(dataDir);
  if (runtime.state !== 'read' || !runtime.alive) return false;
  return (await askHealth(runtime.control.url, AbortSignal.timeout(Math.min(withinMs, ANSWER_MS_MAX)))) === 200;
}

const unavailable = (message: string): VivariumError => new VivariumError('unavailable', message);
