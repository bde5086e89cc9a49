import type { AdjustableClock, Clock, EpochMs, Timer } from '../base/clock.ts';
import type { RecordedExchange } from '../model/exchange-record.ts';
import type { Entry } from './entry.ts';
import { EntryLog } from './entry-log.ts';

/** New entries are reported in batches after this delay, because a reader cannot follow 5,000 per second singly. */
const NOTIFY_AFTER_MS = 100;

/** Limit on entries per batch; the rest are only counted. */
const ENTRIES_PER_NOTICE_MAX = 200;

/** Limit on exchanges waiting to be written; one turn of the event loop rarely has more. */
const WAITING_MAX = 64;

/** Limit on subscribers to new entries; each page needs one. */
export const WATCHERS_MAX = 100;

export interface NewEntries {
  entries: Entry[];
  /** The number of further entries: beyond the batch limit, and those of a restored snapshot. */
  missed: number;
  /** Whether all earlier entries were cleared. */
  cleared: boolean;
}

/** The recent exchanges, in memory only, with limits on number and bytes. */
export function createRecorder(
  clock: Pick<AdjustableClock, 'state' | 'monotonic' | 'realTimer' | 'onAdjusted'>,
  { onChanged }: { onChanged: () => void },
) {
  const log = new EntryLog();
  const awaited = new Map<number, (entry: Entry) => void>();
  const watchers = new Set<Watcher>();
  let closed = false;
  let waiting: RecordedExchange[] = [];
  /** The clocks when the first waiting exchange was added. */
  let taken: Moment = { now: 0, realNow: 0, monotonicMs: 0, frozen: false };
  // Waiting exchanges belong to the time before the adjustment.
  const unsubscribe = clock.onAdjusted(settle);

  /**
   * Writes the waiting exchanges. Writing in batches sends a turn's answers out faster, and wakes clients less often.
   */
  function settle(): void {
    if (waiting.length === 0) return;
    const exchanges = waiting;
    waiting = [];
    for (const exchange of exchanges) keep(exchange);
    onChanged();
  }

  function keep(exchange: RecordedExchange): void {
    const afterTakenMs = exchange.startedMs - taken.monotonicMs;
    // With a frozen clock, this is also the time when the exchange began.
    log.add(exchange, taken.now + (taken.frozen ? 0 : afterTakenMs), taken.realNow + afterTakenMs);
    // Usually nobody waits or watches.
    const entry = awaited.size > 0 || watchers.size > 0 ? log.get(log.next - 1) : null;
    if (entry === null) return;
    awaited.get(entry.port)?.(entry);
    for (const watcher of watchers) watcher.take(entry);
  }

  /** The log, with all that was taken before. */
  const settled = (): EntryLog => {
    settle();
    return log;
  };

  return {
    /** Adds a finished exchange. Cheap enough for the hot path: it is written at the end of the turn. */
    take(exchange: RecordedExchange): void {
      if (exchange.record === null || closed) return;
      if (waiting.length === 0) {
        taken = { ...clock.state(), monotonicMs: clock.monotonic() };
        setImmediate(settle);
      }
      if (waiting.push(exchange) >= WAITING_MAX) settle();
    },
    newestFirst: (before?: number): IterableIterator<Entry> => settled().newestFirst(before),
    /** The current entries, oldest first, starting after entry `after`; skips those dropped meanwhile. */
    oldestFirst: (after?: number): IterableIterator<Entry> => settled().oldestFirst(after),
    get: (number: number): Entry | null => settled().get(number),
    /** The number of an entry that was listed while it ran. */
    numberOf: (begun: number): number | null => settled().numberOf(begun),
    size: (): number => settled().size,
    /** The number of entries, of one project or of all, dropped for newer ones since the log was cleared. */
    dropped: (projectId?: string): number => settled().dropped(projectId),
    /** Clears all entries; returns how many there were. */
    clear(): number {
      const cleared = settled().size;
      log.clear();
      for (const watcher of watchers) watcher.forget(0);
      onChanged();
      return cleared;
    },
    /** Replaces all entries by those of a snapshot, oldest first. Later ones continue from their numbers. */
    restore(entries: readonly Entry[]): void {
      settled().restore(entries);
      for (const watcher of watchers) watcher.forget(entries.length);
      onChanged();
    },
    next: (): number => settled().next,
    /**
     * Resolves with the entry of the connection from `port`, among those numbered `since` or later, once it exists; null
     * if it does not appear within `withinMs` of real time.
     */
    from(port: number, since: number, withinMs: number): Promise<Entry | null> {
      const found = settled().from(port, since);
      if (found !== null) return Promise.resolve(found);
      return new Promise((resolve) => {
        const finish = (entry: Entry | null): void => {
          timer.cancel();
          awaited.delete(port);
          resolve(entry);
        };
        const timer = clock.realTimer(withinMs, () => finish(null));
        awaited.set(port, finish);
      });
    },
    markReplay: (entry: Entry, of: number) => log.markReplay(entry.number, of),
    /** New entries that match, in batches, until `signal` aborts or the recorder closes. */
    async *watch(fits: (entry: Entry) => boolean, signal?: AbortSignal): AsyncGenerator<NewEntries, void, void> {
      if (closed || watchers.size >= WATCHERS_MAX) return;
      const watcher = createWatcher(clock, fits);
      const end = (): void => watcher.end();
      watchers.add(watcher);
      signal?.addEventListener('abort', end, { once: true });
      if (signal?.aborted === true) end();
      try {
        for (let news = await watcher.next(); news !== null; news = await watcher.next()) yield news;
      } finally {
        watchers.delete(watcher);
        signal?.removeEventListener('abort', end);
      }
    },
    close(): void {
      closed = true;
      waiting = [];
      unsubscribe();
      for (const watcher of watchers) watcher.end();
    },
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

/** The same moment on three clocks. */
interface Moment {
  now: EpochMs;
  realNow: EpochMs;
  monotonicMs: number;
  frozen: boolean;
}

function createWatcher(clock: Pick<Clock, 'realTimer'>, fits: (entry: Entry) => boolean) {
  let waiting: NewEntries = { entries: [], missed: 0, cleared: false };
  let notify: ((news: NewEntries | null) => void) | null = null;
  let timer: Timer | null = null;
  let ended = false;

  function flush(): void {
    timer = null;
    if (notify === null || !hasNews(waiting)) return;
    const news = waiting;
    waiting = { entries: [], missed: 0, cleared: false };
    notify(news);
    notify = null;
  }

  return {
    take(entry: Entry): void {
      if (ended || !fits(entry)) return;
      if (waiting.entries.length < ENTRIES_PER_NOTICE_MAX) waiting.entries.push(entry);
      else waiting.missed += 1;
      timer ??= clock.realTimer(NOTIFY_AFTER_MS, flush);
    },
    /** Discards pending entries after the recorder was cleared; there are `restored` others in their place. */
    forget(restored: number): void {
      if (ended) return;
      waiting = { entries: [], missed: restored, cleared: true };
      timer ??= clock.realTimer(NOTIFY_AFTER_MS, flush);
    },
    /** The next batch, as soon as there is one; null after the end. */
    next(): Promise<NewEntries | null> {
      if (ended) return Promise.resolve(null);
      return new Promise((resolve) => {
        notify = resolve;
        if (hasNews(waiting) && timer === null) flush();
      });
    },
    end(): void {
      ended = true;
      timer?.cancel();
      notify?.(null);
      notify = null;
    },
  };
}

type Watcher = ReturnType<typeof createWatcher>;

const hasNews = ({ entries, cleared }: NewEntries): boolean => cleared || entries.length > 0;
