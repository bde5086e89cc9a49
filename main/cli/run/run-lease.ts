import { sleep } from '../../base/clock.ts';
import type { Running } from '../../base/system/runtime-file.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { MappedRun, OpenedRun } from '../../contract/runs.ts';
import { askFor, callProcedure, findAnswering } from '../engine/client.ts';
import { failureOf, RemoteFailure } from '../text/io.ts';

/** Retry interval for a stopped Vivarium, and for a server that does not answer yet. */
const AGAIN_MS = 1_000;

/** The request of a run: the rest of the input of `runs.hold`. */
export interface LeaseInput {
  projectId?: string;
  name?: string;
  hostname?: string;
  wildcard: boolean;
  keepHost?: boolean;
  pid: number;
  folder: string;
  command: string;
  asked?: string;
}

/** The lease of a run: it lasts as long as its stream is open, and is renewed after a restart of Vivarium. */
export type Lease = Awaited<ReturnType<typeof openLease>>;

export interface LeaseEvents {
  /** Called after every successful call of `serve`. */
  mapped(result: MappedRun, url: string): void;
  /** Called once for each call of `serve`: the server does not answer yet, or another reason is final. */
  refused(message: string, url: string, isFinal: boolean): void;
  lost(): void;
  back(running: Running): void;
}

/** @throws RemoteFailure with the reason why the hostname cannot be used, and as `callProcedure`. */
export async function openLease(dataDir: string, first: Running, input: LeaseInput, events: LeaseEvents) {
  const over = new AbortController();
  let { opened, values } = await open(first, input, over.signal);
  let running: Running | null = first;
  let wanted: { url: string } | null = null;
  const following = follow();

  async function follow(): Promise<void> {
    while (!over.signal.aborted) {
      await drain(values);
      running = null;
      if (over.signal.aborted) return;
      events.lost();
      await openAgain();
    }
  }

  async function openAgain(): Promise<void> {
    while (!over.signal.aborted) {
      try {
        const engine = await findAnswering(dataDir);
        if (engine !== null) {
          ({ opened, values } = await open(engine.running, input, over.signal));
          running = engine.running;
          events.back(engine.running);
          if (wanted !== null) void map(wanted);
          return;
        }
      } catch {
        // Vivarium is starting, or has not noticed the end of the previous lease.
      }
      await sleep(AGAIN_MS, over.signal);
    }
  }

  /** Tries until the server answers. */
  async function map(target: { url: string }): Promise<void> {
    const { url } = target;
    const isWanted = () => wanted === target && !over.signal.aborted;
    for (let isFirst = true; isWanted() && running !== null; isFirst = false) {
      try {
        const result = await askFor(running, 'runs.map', { id: opened.id, url }, over.signal);
        if (isWanted()) events.mapped(result, url);
        return;
      } catch (error) {
        if (!isWanted() || !(error instanceof RemoteFailure)) return;
        const { code, message } = failureOf(error);
        const isFinal = code !== 'deploy_required';
        if (isFirst || isFinal) events.refused(message, url, isFinal);
        if (isFinal) return;
      }
      await sleep(AGAIN_MS, over.signal);
    }
  }

  return {
    get opened() {
      return opened;
    },
    /** Serves the command at `url`; a later call replaces one that still waits for the server to answer. */
    serve(url: string): void {
      wanted = { url };
      void map(wanted);
    },
    /**
     * Undoes the changes of the run; resolves when done, or if no Vivarium is running, with the slug of the project
     * that the run made, if it stays.
     */
    async close(): Promise<string | undefined> {
      wanted = null;
      const closing = running === null ? null : askFor(running, 'runs.close', { id: opened.id });
      const closed = await closing?.catch(() => null);
      over.abort();
      await following;
      return closed?.kept;
    },
  };
}

async function open(
  running: Running,
  input: LeaseInput,
  signal: AbortSignal,
): Promise<{ opened: OpenedRun; values: AsyncIterator<string> }> {
  const reply = await callProcedure(running, 'runs.hold', JSON.stringify(input), signal);
  if (reply.kind === 'stream') {
    const values = reply.values[Symbol.asyncIterator]();
    const first = await values.next();
    if (first.done !== true) return { opened: JSON.parse(first.value) as OpenedRun, values };
  }
  throw new VivariumError('unavailable', 'Vivarium has ended the stream of this command.');
}

/** Resolves when the stream ends, in whichever way. */
async function drain(values: AsyncIterator<string>): Promise<void> {
  try {
    while ((await values.next()).done !== true);
  } catch {
    // The connection was lost.
  }
}
