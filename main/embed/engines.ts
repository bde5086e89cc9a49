import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RuntimeFile } from '../base/config.ts';
import { type ErrorCode, type InputIssue, internalError, unavailable, VivariumError } from '../contract/errors.ts';

/** A message to the engines' thread. `engine` is the engine's number. */
export type EngineRequest =
  | { kind: 'start'; engine: number; dataDir: string; empty: boolean }
  | { kind: 'stop'; engine: number };

/** What the thread reports about a started engine. */
interface Started {
  runtime: RuntimeFile;
  env: Record<string, string>;
  procedures: { namespace: string; name: string; isStream: boolean }[];
}

/** A message from the engines' thread. */
export type EngineEvent =
  | { kind: 'started'; engine: number; started: Started }
  /** The engine has stopped, on request or after `POST /stop` at its control port. */
  | { kind: 'stopped'; engine: number }
  | { kind: 'failed'; engine: number; error: { code: ErrorCode; message: string; issues: readonly InputIssue[] } };

/** A running engine in the thread shared by all engines of this process. */
export interface Engine extends Started {
  /** Stops the engine and removes its folder. Further calls wait for the first. */
  stop(): Promise<void>;
  /** Why the engine ended, unless `stop` stopped it. */
  lost(): VivariumError | null;
}

interface Entry {
  folder: string;
  started: PromiseWithResolvers<Started>;
  stopped: PromiseWithResolvers<undefined>;
  lost: VivariumError | null;
}

/** The number of pending requests to the thread, which keeps the process alive while there are any. */
let waiting = 0;
let thread: Worker | null = null;
let number = 0;
const engines = new Map<number, Entry>();

/**
 * Starts an engine on free ports, in memory. Engines do not keep the process alive: if it ends without `stop`, they end
 * with it and their folders are removed.
 * @throws VivariumError from the engine
 */
export async function startEngine({ empty }: { empty: boolean }): Promise<Engine> {
  const engine = ++number;
  const entry: Entry = {
    folder: makeFolder(),
    started: Promise.withResolvers(),
    stopped: Promise.withResolvers(),
    lost: null,
  };
  if (engines.size === 0) process.on('exit', removeFolders);
  engines.set(engine, entry);
  try {
    const started = await awaited({ kind: 'start', engine, dataDir: entry.folder, empty }, entry.started.promise);
    return {
      ...started,
      lost: () => entry.lost,
      stop: () => (engines.has(engine) ? awaited({ kind: 'stop', engine }, entry.stopped.promise) : Promise.resolve()),
    };
  } catch (error) {
    forget(engine);
    throw error;
  }
}

/** Sends a request and waits for its outcome; until then, the process does not end by itself. */
async function awaited<Outcome>(request: EngineRequest, outcome: Promise<Outcome>): Promise<Outcome> {
  const worker = (thread ??= openThread());
  waiting++;
  worker.ref();
  worker.postMessage(request);
  try {
    return await outcome;
  } finally {
    if (--waiting === 0) worker.unref();
  }
}

function openThread(): Worker {
  // Without the process's own flags and preloaded modules, such as those of a test runner.
  const worker = new Worker(join(import.meta.dirname, `thread${extname(import.meta.filename)}`), { execArgv: [] });
  worker.on('message', (event: EngineEvent) => {
    const entry = engines.get(event.engine);
    if (entry === undefined) return;
    if (event.kind === 'started') entry.started.resolve(event.started);
    else if (event.kind === 'failed') entry.started.reject(errorOf(event.error));
    else {
      entry.lost = unavailable('This Vivarium was stopped.');
      entry.stopped.resolve(undefined);
      forget(event.engine);
    }
  });
  worker.on('error', (error) => {
    if (thread === worker) thread = null;
    for (const [engine, entry] of engines) {
      entry.lost = internalError(`Vivarium failed: ${String(error)}`, { cause: error });
      entry.started.reject(entry.lost);
      entry.stopped.resolve(undefined);
      forget(engine);
    }
  });
  return worker;
}

const errorOf = ({ code, message, issues }: Extract<EngineEvent, { kind: 'failed' }>['error']): VivariumError =>
  new VivariumError(code, message, { issues });

function forget(engine: number): void {
  const folder = engines.get(engine)?.folder;
  if (folder === undefined) return;
  engines.delete(engine);
  if (engines.size === 0) process.off('exit', removeFolders);
  removeFolder(folder);
}

function removeFolders(): void {
  for (const { folder } of engines.values()) removeFolder(folder);
}

/** Followed by the id of the process that created the folder. */
const PREFIX = 'vivarium-embedded-';

/** How many folders of killed processes one start removes. */
const LEFT_BEHIND_MAX = 100;

export const makeFolder = (): string => mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));

export function removeFolder(folder: string): void {
  // The engine may be writing a file when its process ends.
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders of killed processes, whose `exit` listeners did not run. */
export function removeLeftBehind(isInUse: (folder: string, pid: number) => boolean): void {
  const left = readdirSync(tmpdir())
    .flatMap((name) => {
      const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
      return pid > 0 ? [{ folder: join(tmpdir(), name), pid }] : [];
    })
    .filter(({ folder, pid }) => !isInUse(folder, pid));
  for (const { folder } of left.slice(0, LEFT_BEHIND_MAX)) {
    try {
      removeFolder(folder);
    } catch {
      // The folder belongs to another user.
    }
  }
}
