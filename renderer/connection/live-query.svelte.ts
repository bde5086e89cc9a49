import type { Environment } from '../../main/contract/values.ts';
import type { Change } from './connection.svelte.ts';
import { describeFailure } from './failure.ts';
import { ConnectionLostError, type Client } from './transport.ts';
import type { RealTime } from '../shared/time/real-time.ts';

/**
 * The pause after a read: at least this long, and this many times as long as the read took. It spares a busy engine and
 * polls a slow one less often.
 */
export const READ_GAP_MS_MIN = 80;
export const READ_GAP_FACTOR = 4;
/** The upper bound of the pause: during continuous changes, the value is at most this old. */
export const READ_GAP_MS_MAX = 5_000;

/** The source of change events, such as a Connection. */
export interface ChangeSource {
  readonly following: boolean;
  subscribe(listener: (change: Change) => void): () => void;
}

/** The connection to the engine that view state needs. */
export interface Source {
  client: Client;
  changes: ChangeSource;
  time: RealTime;
}

type Concern = Exclude<Change, { type: 'everything' }>;

/** The same for the view state of one project. */
export interface ProjectSource extends Source {
  projectId: string;
}

/** Changes of these types in a project, and in an environment if one is given. */
export const inProject =
  ({ projectId, environment }: { projectId: string; environment?: Environment }, ...types: Concern['type'][]) =>
  (change: Concern): boolean =>
    types.includes(change.type) &&
    (change.projectId === undefined || change.projectId === projectId) &&
    (environment === undefined || change.environment === undefined || change.environment === environment);

export type QueryState = 'loading' | 'failed' | 'ready';

/**
 * An answer of the engine that stays current: read at once, and again after every relevant change. Changes during a
 * read, or shortly after, cause one more read. The last good answer survives a failed read or a broken connection.
 */
export class LiveQuery<Value> {
  #value = $state.raw<Value | undefined>(undefined);
  #failure = $state<string | undefined>(undefined);
  #reading = false;
  #wanted = false;
  #gap: { cancel(): void } | null = null;
  readonly #ask: (signal: AbortSignal) => Promise<Value>;
  readonly #time: RealTime;
  readonly #abort = new AbortController();
  #followers: readonly (() => void)[] = [];
  readonly #unsubscribe: () => void;

  /**
   * @param concerns the changes that can affect the answer: their types, or whether one does
   * @param ask calls the engine; the signal aborts when the answer is no longer needed
   */
  constructor(
    { changes, time }: Omit<Source, 'client'>,
    concerns: readonly Concern['type'][] | ((change: Concern) => boolean),
    ask: (signal: AbortSignal) => Promise<Value>,
  ) {
    this.#ask = ask;
    this.#time = time;
    const affects = typeof concerns === 'function' ? concerns : ({ type }: Concern) => concerns.includes(type);
    this.#unsubscribe = changes.subscribe((change) => {
      if (change.type === 'everything' || affects(change)) this.reread();
    });
    if (changes.following) this.reread();
  }

  /** The last good answer. */
  get value(): Value | undefined {
    return this.#value;
  }

  /** The reason the last read failed, as a sentence for the user; undefined after a success. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get state(): QueryState {
    if (this.#value !== undefined) return 'ready';
    return this.#failure === undefined ? 'loading' : 'failed';
  }

  /** Reads again after the current read and its pause; `now` skips the pause. */
  reread(when: 'soon' | 'now' = 'soon'): void {
    this.#wanted = true;
    if (when === 'now') {
      this.#gap?.cancel();
      this.#gap = null;
    }
    if (!this.#reading && this.#gap === null) void this.#read();
  }

  /** Calls `listener` with the current answer, if any, and every later one, until the returned function is called. */
  follow(listener: (value: Value) => void): () => void {
    const notify = (): void => {
      if (this.#value !== undefined) listener(this.#value);
    };
    notify();
    this.#followers = [...this.#followers, notify];
    return () => {
      this.#followers = this.#followers.filter((other) => other !== notify);
    };
  }

  /** Merges a call's result into the answer, to show it before the next read. */
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
    const begunAt = this.#time.monotonic();
    try {
      const value = await this.#ask(this.#abort.signal);
      if (this.#abort.signal.aborted) return;
      this.#take(value);
      this.#failure = undefined;
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      // No message: the page reports the lost connection and reads everything again after a reconnect.
      if (!(error instanceof ConnectionLostError)) this.#failure = describeFailure(error);
    } finally {
      this.#reading = false;
    }
    const gapMs = (this.#time.monotonic() - begunAt) * READ_GAP_FACTOR;
    this.#gap = this.#time.realTimer(Math.min(READ_GAP_MS_MAX, Math.max(READ_GAP_MS_MIN, gapMs)), () => {
      this.#gap = null;
      if (this.#wanted) void this.#read();
    });
  }

  #take(value: Value): void {
    this.#value = value;
    for (const notify of this.#followers) notify();
  }
}
