import { sleep } from '../../base/clock.ts';
import type { Running } from '../../base/system/runtime-file.ts';
import { unavailable } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { MappedRun, OpenedRun } from '../../contract/runs.ts';
import { askFor, callProcedure, findAnswering } from '../engine/client.ts';
import { failureOf, RemoteFailure, type Io } from '../text/io.ts';
import { lookup } from 'node:dns/promises';
import { commandLine, ownCommand } from '../../base/system/own-command.ts';
import { withCommandLines } from '../words/command-line.ts';
import type { Asked } from './asked-run.ts';

/** Retry interval for a stopped Vivarium, and for a server that does not answer yet. */
const AGAIN_MS = 1_000;

type LeaseInput = Parameters<Services['runs']['hold']>[0];

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
  throw unavailable('Vivarium has ended the stream of this command.');
}

/** Resolves when the stream ends, in whichever way. */
async function drain(values: AsyncIterator<string>): Promise<void> {
  try {
    while ((await values.next()).done !== true);
  } catch {
    // The connection was lost.
  }
}

/** What the lease reports, on standard error. */
export function createReports({ dataDir }: Asked, io: Io, say: (text: string) => void): LeaseEvents {
  const own = ownCommand(dataDir, io);
  let shown = '';
  return {
    mapped: (result, url) => void report(result, url),
    refused(message, url, isFinal) {
      say(isFinal ? withCommandLines(message, own) : `${url} does not answer yet: ${message}`);
    },
    lost: () =>
      say(
        'Vivarium has stopped or is restoring a snapshot. Your command keeps running and will be served again afterwards.',
      ),
    back: () => say('Vivarium is serving it again.'),
  };

  async function report({ run, domains }: MappedRun, url: string): Promise<void> {
    const failed = domains.flatMap(({ steps }) => steps.filter(({ ok }) => !ok));
    const lines = [
      ...failed.map(({ message, fix }) => withCommandLines(`${message} ${fix ?? ''}`.trimEnd(), own)),
      ...(await Promise.all(run.urls.map((address, index) => addressLine(address, domains[index])))).flat(),
    ];
    const text = lines.join('\n');
    if (text === shown) return say(`Now at ${url}.`);
    shown = text;
    for (const line of lines) say(line);
    say(`They lead to ${url}. What goes through: ${own('vivarium open')}`);
  }

  /** The address, if this machine resolves the hostname to itself; otherwise how to open it. */
  async function addressLine(address: string, domain: MappedRun['domains'][number] | undefined): Promise<string[]> {
    if (domain === undefined) return [address];
    if (!domain.serving.https) return [];
    const { hostname } = new URL(address);
    return [
      (await isFound(hostname)) ? address : `${address}  Open it: ${own(commandLine`vivarium open ${hostname}`)}`,
    ];
  }
}

/** Whether this machine resolves the hostname to itself, as a browser would. */
async function isFound(hostname: string): Promise<boolean> {
  const addresses = await lookup(hostname, { all: true }).catch(() => []);
  return addresses.length > 0 && addresses.every(({ address }) => /^(?:127\.|::1$)/.test(address));
}
