import { OUTCOME_MS_MAX } from '../../main/contract/calls.ts';
import type { RealTime } from '../shared/time/real-time.ts';
import { ConnectionLostError, OutcomeUnknownError } from './transport.ts';

/** How long a call waits to be sent again: a minute less than the engine keeps outcomes, for a paused process. */
export const RESEND_MS_MAX = OUTCOME_MS_MAX - 60_000;

export interface SubmitsOptions {
  time: RealTime;
  /** The run of the engine that the page is connected to; null without a connection. */
  run: () => string | null;
  /** Resolves when there is a connection again, at the latest after `waitMs`. */
  reconnected: (waitMs: number) => Promise<void>;
}

/**
 * Executes every call that changes something exactly once. Each has an idempotency key; when the connection breaks
 * before the answer, the call is sent again under its key to the same run of the engine, which knows its outcome.
 */
export class Submits {
  /** The number of calls that wait for a connection to learn their outcomes. */
  unanswered = $state(0);
  #running: readonly Promise<unknown>[] = [];
  readonly #page = crypto.getRandomValues(new Uint32Array(4)).join('-');
  #count = 0;
  readonly #options: SubmitsOptions;

  constructor(options: SubmitsOptions) {
    this.#options = options;
  }

  /** Resolves when every call that is running now has its outcome. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /**
   * @param send sends the call under a key; throws ConnectionLostError when the connection broke, or when there is none
   * @throws OutcomeUnknownError when the answer was lost for good; else what `send` throws
   */
  async submit<Answer>(send: (key: string) => Promise<Answer>): Promise<Answer> {
    const outcome = this.#submit(send);
    this.#running = [...this.#running, outcome];
    try {
      return await outcome;
    } finally {
      this.#running = this.#running.filter((other) => other !== outcome);
    }
  }

  async #submit<Answer>(send: (key: string) => Promise<Answer>): Promise<Answer> {
    const { run, time } = this.#options;
    const sentTo = run();
    this.#count += 1;
    const key = `${this.#page}-${this.#count}`;
    // Not sent, or not to a known run.
    if (sentTo === null) return send(key);
    const until = time.monotonic() + RESEND_MS_MAX;
    for (;;) {
      try {
        return await send(key);
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error;
      }
      await this.#wait(until - time.monotonic());
      if (run() !== sentTo) throw new OutcomeUnknownError();
    }
  }

  async #wait(waitMs: number): Promise<void> {
    this.unanswered += 1;
    try {
      await this.#options.reconnected(waitMs);
    } finally {
      this.unanswered -= 1;
    }
  }
}
