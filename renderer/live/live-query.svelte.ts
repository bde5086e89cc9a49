import type { Change } from '../connection/connection.svelte.ts';
import { describeFailure } from '../connection/failure.ts';
import { ConnectionLostError, type Client } from '../connection/transport.ts';
import type { RealTime } from '../time/real-time.ts';

/**
 * After a read ends, the next begins at the earliest this much later, or this many times as long as the read took: a
 * busy engine is not read without pause, and one that is slow to answer is asked less often.
 */
export const READ_GAP_MS_MIN = 80;
export const READ_GAP_FACTOR = 4;
/** Even then, what is shown is at most this old when changes go on. */
export const READ_GAP_MS_MAX = 5_000;

/** Where changes are heard of; a Connection is one. */
export interface ChangeSource {
  readonly following: boolean;
  subscribe(listener: (change: Change) => void): () => void;
}

/** What view state knows of the engine through. */
export interface Source {
  client: Client;
  changes: ChangeSource;
  time: RealTime;
}

export interface LiveQueryOptions<Value> extends Omit<Source, 'client'> {
  /** Asks the engine. `signal` aborts when nobody wants the answer any more. */
  read: (signal: AbortSignal) => Promise<Value>;
  /** Whether `change` can have changed the answer. */
  concerns: (change: Exclude<Change, { type: 'everything' }>) => boolean;
}

export type QueryState = 'loading' | 'failed' | 'ready';

/**
 * An answer of the engine that keeps itself true: read at once, and again after every change that concerns it. Changes
 * that come while a read is on its way, or shortly after, are answered by one more read. The last good answer stays when
 * a later read fails or the connection breaks.
 */
export class LiveQuery<Value> {
  #value = $state.raw<Value | undefined>(undefined);
  #failure = $state<string | undefined>(undefined);
  #reading = false;
  #wanted = false;
  #gap: { cancel(): void } | null = null;
  readonly #options: LiveQueryOptions<Value>;
  readonly #abort = new AbortController();
  #followers: readonly (() => void)[] = [];
  readonly #unsubscribe: () => void;

  constructor(options: LiveQueryOptions<Value>) {
    this.#options = options;
    this.#unsubscribe = options.changes.subscribe((change) => {
      if (change.type === 'everything' || options.concerns(change)) this.reread();
    });
    if (options.changes.following) this.reread();
  }

  /** The last good answer. */
  get value(): Value | undefined {
    return this.#value;
  }

  /** Why the last read failed, in a sentence for a person; undefined when it did not. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get state(): QueryState {
    if (this.#value !== undefined) return 'ready';
    return this.#failure === undefined ? 'loading' : 'failed';
  }

  /** Reads again, now or as soon as the read under way and the pause after it are over; `now` does without the pause. */
  reread(when: 'soon' | 'now' = 'soon'): void {
    this.#wanted = true;
    if (when === 'now') {
      this.#gap?.cancel();
      this.#gap = null;
    }
    if (!this.#reading && this.#gap === null) void this.#read();
  }

  /** Tells the answer there is, and every one after it, until the returned function is called. */
  follow(listener: (value: Value) => void): () => void {
    const tell = (): void => {
      if (this.#value !== undefined) listener(this.#value);
    };
    tell();
    this.#followers = [...this.#followers, tell];
    return () => {
      this.#followers = this.#followers.filter((other) => other !== tell);
    };
  }

  /** Works what a call has answered into the answer there is, so that it shows before the next read. */
  amend(change: (value: Value) => Value): void {
    if (this.#value !== undefined) this.#take(change(this.#value));
  }

  close(): void {
    this.#unsubscribe();
    this.#gap?.cancel();
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    this.#wanted = false;
    this.#reading = true;
    const { time } = this.#options;
    const begunAt = time.monotonic();
    try {
      const value = await this.#options.read(this.#abort.signal);
      if (this.#abort.signal.aborted) return;
      this.#take(value);
      this.#failure = undefined;
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      // Nothing to report: the page says that the connection is lost, and reads everything again when it is back.
      if (!(error instanceof ConnectionLostError)) this.#failure = describeFailure(error);
    } finally {
      this.#reading = false;
    }
    const gapMs = (time.monotonic() - begunAt) * READ_GAP_FACTOR;
    this.#gap = time.realTimer(Math.min(READ_GAP_MS_MAX, Math.max(READ_GAP_MS_MIN, gapMs)), () => {
      this.#gap = null;
      if (this.#wanted) void this.#read();
    });
  }

  #take(value: Value): void {
    this.#value = value;
    for (const tell of this.#followers) tell();
  }
}
