import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import { describeFailure } from '../../connection/failure.ts';
import { ConnectionLostError, type Client } from '../../connection/transport.ts';
import type { ChangeSource } from '../../connection/live-query.svelte.ts';
import type { RealTime } from '../../shared/time/real-time.ts';

/** The engine's capacity. */
export const ENTRIES_MAX = 10_000;

/** The engine's page limit. */
const READ_MAX = 1_000;

/** The pause between parts of a long list, to leave time for other work. */
const READ_PAUSE_MS = 30;

/** After entries arrived too fast to be sent, the list is read again once this much time has passed without any. */
export const QUIET_MS = 700;

/** The time between two reads of the running requests. */
export const RUNNING_MS = 500;

/** The delay before retrying an ended stream or a failed read. */
const RETRY_MS = 2_000;

export interface TrafficQuery {
  /** Undefined for all projects and for requests that reached none. */
  projectId: string | undefined;
  /** A valid filter. */
  filter: string;
}

export interface TrafficLogOptions extends TrafficQuery {
  client: Client;
  changes: ChangeSource;
  time: RealTime;
  /** Called once, when the list has entries or a failure to show. */
  onready?: () => void;
}

/**
 * The entries of one list, newest first, up to the engine's capacity, updated live. While the list is paused, new
 * entries wait so that nothing moves.
 */
export class TrafficLog {
  readonly query: TrafficQuery;
  /** Newest first. */
  entries: readonly TrafficEntry[] = $state.raw([]);
  #waiting: readonly TrafficEntry[] = $state.raw([]);
  state = $state<'loading' | 'failed' | 'ready'>('loading');
  /** The reason why the list could not be read, as a sentence for the user. */
  failure = $state<string | undefined>(undefined);
  /** The number of entries that arrived too fast to be sent; they appear after a short pause in traffic. */
  missed = $state(0);
  /** The number of entries that the engine dropped to make room for newer ones, whatever the filter. */
  dropped = $state(0);
  #held = false;
  #revealed: string | undefined;
  /** Aborts the current read when a new one starts. */
  #run = new AbortController();
  #timers: Record<'quiet' | 'retry' | 'running', { cancel(): void } | null> = {
    quiet: null,
    retry: null,
    running: null,
  };
  /** The highest number of an entry so far. */
  #newest = 0;
  /** Running entries that the engine no longer listed at the last read. */
  #ended: readonly string[] = [];
  readonly #options: TrafficLogOptions;
  readonly #unsubscribe: () => void;
  /** The number of entries that arrived while the list was paused. */
  readonly waiting: number = $derived.by(() => this.#waiting.length);

  constructor(options: TrafficLogOptions) {
    this.#options = options;
    this.query = { projectId: options.projectId, filter: options.filter };
    this.#unsubscribe = options.changes.subscribe((change) => {
      if (change.type === 'everything') this.reread();
    });
    if (options.changes.following) this.reread();
  }

  hold(held: boolean): void {
    this.#held = held;
    if (held) return;
    this.take();
    if (this.missed > 0) this.#awaitQuiet();
  }

  /** Shows the waiting entries once. */
  take(): void {
    if (this.#waiting.length === 0) return;
    this.entries = inOrder([...this.#waiting, ...this.entries]).slice(0, ENTRIES_MAX);
    this.#waiting = [];
  }

  /** Shows the waiting entries once `id`, which the user asked for, is among them. */
  reveal(id: string): void {
    this.#revealed = id;
    this.#takeRevealed();
  }

  /** Reads the list again; the current entries remain until then. */
  reread(): void {
    this.#stopReading();
    this.#run = new AbortController();
    void this.#read(this.#run.signal);
  }

  close(): void {
    this.#unsubscribe();
    this.#stopReading();
  }

  #stopReading(): void {
    this.#run.abort();
    for (const timer of Object.values(this.#timers)) timer?.cancel();
  }

  get #input(): { projectId?: string; filter?: string } {
    const { projectId, filter } = this.query;
    return { ...(projectId !== undefined && { projectId }), ...(filter !== '' && { filter }) };
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    /** Entries that arrived before the list. */
    const early: { current: TrafficEntry[] | null } = { current: [] };
    try {
      const news = await client.traffic.watch(this.#input, { signal });
      void this.#follow(news, early, signal);
      const { items, next, dropped } = await client.traffic.list({ ...this.#input, limit: READ_MAX }, { signal });
      if (signal.aborted) return;
      this.dropped = dropped;
      this.entries = inOrder(items);
      this.#newest = Math.max(0, ...items.map(numberOf));
      this.#waiting = [];
      this.missed = 0;
      const before = early.current ?? [];
      early.current = null;
      this.#add(before);
      this.#settle(undefined);
      void this.#followRunning(signal);
      await this.#readOlder(next, signal);
    } catch (error) {
      if (signal.aborted) return;
      // No message: the page reports the lost connection and reads everything again after a reconnect.
      if (error instanceof ConnectionLostError) return;
      this.#settle(describeFailure(error));
      this.#retry();
    }
  }

  #settle(failure: string | undefined): void {
    const wasLoading = this.state === 'loading';
    this.failure = failure;
    if (failure === undefined) this.state = 'ready';
    else if (wasLoading) this.state = 'failed';
    if (wasLoading) this.#options.onready?.();
  }

  async #readOlder(from: string | undefined, signal: AbortSignal): Promise<void> {
    let before = from;
    while (before !== undefined && this.entries.length < ENTRIES_MAX) {
      await new Promise<void>((resolve) => void this.#options.time.realTimer(READ_PAUSE_MS, resolve));
      if (signal.aborted) return;
      const { items, next } = await this.#options.client.traffic.list(
        { ...this.#input, limit: READ_MAX, before },
        { signal },
      );
      if (signal.aborted) return;
      this.entries = inOrder([...this.entries, ...items]).slice(0, ENTRIES_MAX);
      before = next;
    }
  }

  async #follow(
    news: AsyncIterable<{ entries: TrafficEntry[]; missed: number; dropped: number; cleared: boolean }>,
    early: { current: TrafficEntry[] | null },
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for await (const { entries, missed, dropped, cleared } of news) {
        if (signal.aborted) return;
        this.dropped = dropped;
        if (cleared) this.#forget(early);
        if (early.current === null) this.#add(entries);
        else early.current.push(...entries);
        this.missed += missed;
        if (this.missed > 0) this.#awaitQuiet();
      }
    } catch {
      // The stream ended: a reconnect reads everything again, otherwise the code below retries.
    }
    if (!signal.aborted && this.#options.changes.following) this.#retry();
  }

  /** Adds new entries, oldest first, without duplicates. One that was listed while it ran takes its own place. */
  #add(entries: readonly TrafficEntry[]): void {
    const listed = entries.filter(wasListedRunning);
    this.#update(listed);
    const added = entries
      .filter((entry) => (wasListedRunning(entry) ? !this.#has(entry.id) : numberOf(entry) > this.#newest))
      .reverse();
    if (added.length === 0) return;
    this.#newest = Math.max(this.#newest, ...added.map(numberOf));
    this.#waiting = [...added, ...this.#waiting].slice(0, ENTRIES_MAX);
    if (this.#held) this.#takeRevealed();
    else this.take();
  }

  #has(id: string): boolean {
    return this.entries.some((entry) => entry.id === id) || this.#waiting.some((entry) => entry.id === id);
  }

  /** Replaces running entries with their latest state. */
  #update(changed: readonly TrafficEntry[]): void {
    if (changed.length === 0) return;
    const replaced = (entry: TrafficEntry): TrafficEntry => {
      const now = isRunning(entry) ? changed.find(({ id }) => id === entry.id) : undefined;
      // Each reading of the clocks differs by a fraction of a millisecond, but the row began once.
      return now === undefined ? entry : { ...now, at: entry.at, realAt: entry.realAt };
    };
    if (this.entries.some(isRunning)) this.entries = this.entries.map(replaced);
    if (this.#waiting.some(isRunning)) this.#waiting = this.#waiting.map(replaced);
  }

  /** Reads the running requests repeatedly. */
  async #followRunning(signal: AbortSignal): Promise<void> {
    const { client, changes, time } = this.#options;
    while (!signal.aborted) {
      try {
        if (changes.following) this.#takeRunning((await client.traffic.running(this.#input, { signal })).items);
      } catch {
        // The next read, or the stream's end, will show whether the engine is there.
      }
      if (signal.aborted) return;
      await new Promise<void>((resolve) => (this.#timers.running = time.realTimer(RUNNING_MS, resolve)));
    }
  }

  #takeRunning(items: readonly TrafficEntry[]): void {
    this.#update(items);
    const left = [...this.entries, ...this.#waiting]
      .filter((entry) => isRunning(entry) && !items.some(({ id }) => id === entry.id))
      .map(({ id }) => id);
    // The ended entry comes within moments, unless it no longer matches the filter.
    const gone = left.filter((id) => this.#ended.includes(id));
    this.#ended = left;
    if (gone.length > 0) {
      this.entries = this.entries.filter(({ id }) => !gone.includes(id));
      this.#waiting = this.#waiting.filter(({ id }) => !gone.includes(id));
    }
    const added = items.filter(({ id }) => !this.#has(id));
    if (added.length === 0) return;
    this.#waiting = [...added, ...this.#waiting];
    if (!this.#held) this.take();
  }

  #takeRevealed(): void {
    if (!this.#waiting.some(({ id }) => id === this.#revealed)) return;
    this.#revealed = undefined;
    this.take();
  }

  #forget(early: { current: TrafficEntry[] | null }): void {
    if (early.current !== null) early.current = [];
    this.entries = [];
    this.#waiting = [];
    this.missed = 0;
    // A restored snapshot can bring lower numbers.
    this.#newest = 0;
  }

  #awaitQuiet(): void {
    this.#timers.quiet?.cancel();
    this.#timers.quiet = this.#options.time.realTimer(QUIET_MS, () => {
      if (!this.#held) this.reread();
    });
  }

  #retry(): void {
    this.#timers.retry?.cancel();
    this.#timers.retry = this.#options.time.realTimer(RETRY_MS, () => {
      if (this.#options.changes.following) this.reread();
    });
  }
}

const isRunning = ({ running }: TrafficEntry): boolean => running === true;

const LISTED_RUNNING = /_r\d+$/;

/** Entries that were listed while running have separate numbers in their ids: `trf_mi8x2k1a_r3`. */
const wasListedRunning = ({ id }: TrafficEntry): boolean => LISTED_RUNNING.test(id);

/** The last part of other ids increases over time: `trf_mi8x2k1a_12`. */
const numberOf = (entry: TrafficEntry): number =>
  wasListedRunning(entry) ? 0 : Number(entry.id.slice(entry.id.lastIndexOf('_') + 1));

/** By their beginning, newest first. The engine lists them by their end. */
function inOrder(entries: readonly TrafficEntry[]): readonly TrafficEntry[] {
  const isSorted = entries.every((entry, index) => index === 0 || entry.realAt <= (entries[index - 1]?.realAt ?? ''));
  return isSorted ? entries : entries.toSorted((a, b) => (a.realAt < b.realAt ? 1 : a.realAt > b.realAt ? -1 : 0));
}
