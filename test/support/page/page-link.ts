// Declares the globals of Svelte's runes for the tests' types.
/// <reference types="svelte" />
import type { ChangeEvent } from '../../../main/contract/status.ts';
import { SignInRefusedError, type OpenLink, type Transport } from '../../../renderer/connection/transport.ts';
import { FAKE_NOW_MS } from '../fake-clock.ts';

type Answer = (input: unknown) => unknown;

/** A fake link to an engine: gives the answers set by the test, records calls, and breaks on demand. */
export interface FakeTransport extends Transport {
  /** The calls in order, as `namespace.procedure`. */
  calls: { procedure: string; input: unknown; key?: string | undefined }[];
  /** How often it was opened. */
  opened: number;
  stub(procedure: string, answer: Answer): void;
  /** Connects the next link to another process of the engine. */
  restart(): void;
  /** Behaviour of the next attempts to open. */
  becomes(state: 'reachable' | 'unreachable' | 'refusing'): void;
  /** Sends the page a change event. */
  tell(event: Partial<ChangeEvent> & Pick<ChangeEvent, 'type'>): void;
  /** Breaks the open link, as the end of the engine's process does. */
  drop(): void;
  asked(procedure: string): number;
}

const NOW = new Date(FAKE_NOW_MS).toISOString();

export function createFakeTransport(): FakeTransport {
  const answers = new Map<string, Answer>();
  const calls: FakeTransport['calls'] = [];
  let state: Parameters<FakeTransport['becomes']>[0] = 'reachable';
  let run = 1;
  let current: { close(): void; push(event: ChangeEvent): void } | null = null;

  const transport: FakeTransport = {
    calls,
    opened: 0,
    stub: (procedure, answer) => void answers.set(procedure, answer),
    restart: () => void (run += 1),
    becomes: (next) => {
      state = next;
    },
    tell: (event) => current?.push({ at: NOW, ...event }),
    drop: () => current?.close(),
    asked: (procedure) => calls.filter((call) => call.procedure === procedure).length,
    async open() {
      transport.opened += 1;
      if (state === 'refusing') throw new SignInRefusedError();
      if (state === 'unreachable') throw new Error('Nobody listens there.');
      const stream = createStream();
      const { promise: closed, resolve } = Promise.withResolvers<undefined>();
      const link = {
        closed,
        close() {
          stream.end();
          resolve(undefined);
        },
        push: stream.push,
      };
      current = link;
      const opened: OpenLink = {
        closed,
        close: link.close,
        link: {
          async call(path, input, { context }) {
            const procedure = path.join('.');
            calls.push({ procedure, input, key: context.idempotencyKey });
            if (procedure === 'events.watch') {
              stream.push({ type: 'ready', at: NOW, run: `run-${run}` });
              return stream.events();
            }
            const answer = answers.get(procedure);
            if (answer === undefined)
              throw new Error(`The test sets no answer for "${procedure}" on the fake transport.`);
            return await Promise.race([Promise.resolve(answer(input)), closed.then(throwBroken)]);
          },
        },
      };
      return opened;
    },
  };
  transport.stub('clock.get', () => ({ now: NOW, realNow: NOW, offset: 'PT0S', frozen: false }));
  return transport;
}

function throwBroken(): never {
  throw new Error('The link broke.');
}

function createStream() {
  const waiting: ChangeEvent[] = [];
  let wake = Promise.withResolvers<undefined>();
  let ended = false;
  return {
    push(event: ChangeEvent) {
      waiting.push(event);
      wake.resolve(undefined);
    },
    end() {
      ended = true;
      wake.resolve(undefined);
    },
    async *events(): AsyncGenerator<ChangeEvent, void, void> {
      for (;;) {
        const event = waiting.shift();
        if (event !== undefined) yield event;
        else if (ended) throw new Error('The stream broke off.');
        else {
          await wake.promise;
          wake = Promise.withResolvers();
        }
      }
    },
  };
}
