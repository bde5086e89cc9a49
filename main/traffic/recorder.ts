import type { AdjustableClock, Clock, EpochMs, Timer } from '../base/clock.ts';
import { BLOCK_BYTES, createBlocks, type Block, SpanWriter } from './spans.ts';
import type { RecordedExchange, RecordedFrames } from '../model/exchange-record.ts';
import type { Entry } from './entry.ts';
import { KeptEntry } from './kept-entry.ts';
import { createReserve } from './reserve.ts';
import { COLUMN, Rows } from './rows.ts';

/** Limit on entries; the page remains responsive with this many. */
export const ENTRIES_MAX = 10_000;

/** Limit on headers and bodies of all entries together; the oldest are dropped first. */
export const BYTES_MAX = 16 * BLOCK_BYTES;

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
  const rows = new Rows(ENTRIES_MAX);
  const blocks = createBlocks(BYTES_MAX / BLOCK_BYTES);
  const spans = new SpanWriter(openBlock);
  const reserve = createReserve();
  let nextNumber = 1;
  let oldest = 1;
  /** Entries of a snapshot, which are older than those in the ring, and are dropped first. */
  let restored: Entry[] = [];
  /** Changes when restored entries take over the numbers. */
  let generation = 0;
  const awaited = new Map<number, (entry: Entry) => void>();
  const watchers = new Set<Watcher>();
  let closed = false;
  let waiting: RecordedExchange[] = [];
  /** The clocks when the first waiting exchange was added. */
  let taken: Moment = { now: 0, realNow: 0, monotonicMs: 0, frozen: false };
  // Waiting exchanges belong to the time before the adjustment.
  const unsubscribe = clock.onAdjusted(settle);

  /** By number; few exchanges are WebSockets, or long enough to be listed while they run. */
  const frames = new Map<number, RecordedFrames>();
  const begun = new Map<number, number>();

  const inRing = (): number => nextNumber - oldest;
  const count = (): number => inRing() + restored.length + reserve.size();
  const at = (number: number): Entry => new KeptEntry(rows, number, frames.get(number) ?? null);

  function note({ record, begun: listedAs }: RecordedExchange, number: number): void {
    if (listedAs !== null) remember(begun, listedAs, number, ENTRIES_MAX);
    if (record !== null && record.frames !== null) remember(frames, number, record.frames, FRAMED_MAX);
  }

  function forgetOldest(): void {
    const first = restored.shift();
    if (first !== undefined) {
      if (reserve.release(projectOf(first))) reserve.keep(first);
      return;
    }
    if (reserve.release(projectOf(rows.subject(oldest)))) reserve.keep(at(oldest));
    oldest += 1;
    blocks.release(oldest);
  }

  function openBlock(bytes: number): Block {
    for (;;) {
      const block = blocks.open(bytes);
      if (block !== null) return block;
      forgetOldest();
    }
  }

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
    if (exchange.record === null) return;
    const number = nextNumber;
    if (inRing() + restored.length >= ENTRIES_MAX) forgetOldest();
    const written = spans.write(exchange.record);
    written.block.newest = number;
    const afterTakenMs = exchange.startedMs - taken.monotonicMs;
    // With a frozen clock, this is also the time when the exchange began.
    rows.write(number, taken.now + (taken.frozen ? 0 : afterTakenMs), taken.realNow + afterTakenMs, exchange, written);
    note(exchange, number);
    nextNumber += 1;
    reserve.count(projectOf(exchange));
    if (awaited.size > 0 || watchers.size > 0) notify(at(number));
  }

  function clear(): void {
    restored = [];
    reserve.clear();
    frames.clear();
    begun.clear();
    rows.clear();
    spans.forget();
    oldest = nextNumber;
    blocks.release(oldest);
  }

  /** Notifies waiters and watchers (usually none). */
  function notify(entry: Entry): void {
    awaited.get(entry.port)?.(entry);
    for (const watcher of watchers) watcher.take(entry);
  }

  const found = (number: number): Entry | null =>
    restored.find((entry) => entry.number === number) ?? reserve.get(number);

  return {
    /** Adds a finished exchange. Cheap enough for the hot path: it is written at the end of the turn. */
    take(exchange: RecordedExchange): void {
      if (exchange.record === null || closed) return;
      if (waiting.length === 0) {
        const { now, realNow, frozen } = clock.state();
        taken = { now, realNow, monotonicMs: clock.monotonic(), frozen };
        setImmediate(settle);
      }
      if (waiting.push(exchange) >= WAITING_MAX) settle();
    },
    /** Newest first, starting before entry `before`. */
    *newestFirst(before: number = Number.POSITIVE_INFINITY): IterableIterator<Entry> {
      settle();
      const read = generation;
      for (let number = Math.min(before, nextNumber) - 1; number >= oldest; number--) {
        yield at(number);
        if (generation !== read) return;
      }
      const older = [...reserve.entries(), ...restored].reverse();
      for (const entry of older) if (entry.number < before) yield entry;
    },
    /** The current entries, oldest first, starting after entry `after`; skips those dropped meanwhile. */
    *oldestFirst(after: number = 0): IterableIterator<Entry> {
      settle();
      const end = nextNumber;
      const read = generation;
      for (const entry of [...reserve.entries(), ...restored]) if (entry.number > after) yield entry;
      for (let number = Math.max(after + 1, oldest); number < end && generation === read; number++) {
        if (number >= oldest) yield at(number);
      }
    },
    get(number: number): Entry | null {
      settle();
      return number >= oldest && number < nextNumber ? at(number) : found(number);
    },
    /** The number of an entry that was listed while it ran. */
    numberOf(listedAs: number): number | null {
      settle();
      return begun.get(listedAs) ?? null;
    },
    size(): number {
      settle();
      return count();
    },
    /** The number of entries, of one project or of all, dropped for newer ones since the log was cleared. */
    dropped(projectId?: string): number {
      settle();
      return reserve.dropped(projectId);
    },
    /** Clears all entries; returns how many there were. */
    clear(): number {
      settle();
      const cleared = count();
      clear();
      for (const watcher of watchers) watcher.forget(0);
      onChanged();
      return cleared;
    },
    /** Replaces all entries by those of a snapshot, oldest first. Later ones continue from their numbers. */
    restore(entries: readonly Entry[]): void {
      settle();
      clear();
      generation += 1;
      restored = [...entries];
      for (const entry of entries) reserve.count(projectOf(entry));
      nextNumber = (entries.at(-1)?.number ?? nextNumber - 1) + 1;
      oldest = nextNumber;
      while (restored.length > ENTRIES_MAX) forgetOldest();
      for (const watcher of watchers) watcher.forget(entries.length);
      onChanged();
    },
    /** The number of the next entry. */
    next(): number {
      settle();
      return nextNumber;
    },
    /**
     * Resolves with the entry of the connection from `port`, among those numbered `since` or later, once it exists; null
     * if it does not appear within `withinMs` of real time.
     */
    from(port: number, since: number, withinMs: number): Promise<Entry | null> {
      settle();
      for (let number = nextNumber - 1; number >= Math.max(since, oldest); number--) {
        if (rows.number(number, COLUMN.port) === port) return Promise.resolve(at(number));
      }
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
    /** Marks an entry as a replay of another. */
    markReplay(entry: Entry, of: number): void {
      rows.markReplay(entry.number, of);
    },
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

const projectOf = ({ route }: Pick<Entry, 'route'>): string | null => route?.projectId ?? null;

/** Limit on ended WebSockets whose frames are kept; the oldest are dropped. */
const FRAMED_MAX = 50;

function remember<Value>(map: Map<number, Value>, key: number, value: Value, countMax: number): void {
  map.set(key, value);
  if (map.size <= countMax) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

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
