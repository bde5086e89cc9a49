import type { AdjustableClock, Clock, EpochMs, Timer } from '../base/clock.ts';
import type { Decision } from '../base/decision.ts';

/** Entries that are kept; the page stays smooth with as many. */
export const ENTRIES_MAX = 10_000;

/** What all entries together may take, roughly; the oldest go first. */
export const BYTES_MAX = 64 * 1024 * 1024;

/** What an entry takes besides its texts and bodies: objects, numbers, what the engine adds. */
const ENTRY_BYTES = 1_000;

/** New entries are told together, this much later: at 5,000 a second nobody reads them one by one. */
const TELL_AFTER_MS = 100;

/** How many entries one subscriber is told at a time; of the rest it learns the number. */
const TOLD_MAX = 200;

/** Subscribers to new entries; each page needs one. */
export const WATCHERS_MAX = 100;

export interface RecordedBody {
  /** The first bytes. */
  chunks: readonly (Buffer | string)[];
  /** How many there were in all. */
  bytes: number;
}

/** What the data plane hands over of one exchange; `main/proxy` has the same shape. Times are real milliseconds. */
export interface RecordedExchange {
  authority: string | null;
  route: {
    projectId: string;
    environment: 'production' | 'staging';
    target: { kind: 'api' } | { kind: 'upstream'; url: string };
  } | null;
  keyId: string | null;
  decision: Decision | null;
  stage: 'listener' | 'authority' | 'route' | 'redirect' | 'identify' | 'limit' | 'target';
  scheme: 'http' | 'https';
  httpVersion: string;
  method: string;
  target: string;
  status: number | null;
  durationMs: number;
  address: string;
  port: number;
  aborted: boolean;
  record: {
    requestFields: readonly string[];
    responseFields: readonly string[];
    requestBody: RecordedBody;
    responseBody: RecordedBody;
    handedMs: number | null;
    firstByteMs: number | null;
  } | null;
}

export interface Entry extends Omit<RecordedExchange, 'record'> {
  /** Rises by one with every entry of this run. */
  number: number;
  /** When it began, on the app's clock and in real time. */
  atMs: EpochMs;
  realAtMs: EpochMs;
  record: NonNullable<RecordedExchange['record']>;
  replayOf: number | null;
}

export interface NewEntries {
  entries: Entry[];
  /** How many came besides, too fast to be told. */
  missed: number;
  /** Whether all that came before them was forgotten. */
  cleared: boolean;
}

/** What was asked and answered lately: in memory only, bounded in number and bytes. */
export interface Recorder {
  /** Takes an exchange that is over. Cheap enough for the hot path. */
  take(exchange: RecordedExchange): void;
  /** Newest first, beginning before entry `before`. */
  newestFirst(before?: number): IterableIterator<Entry>;
  get(number: number): Entry | null;
  size(): number;
  /** Forgets all; how many there were. */
  clear(): number;
  /** The entry of a connection from `port`, once it is there; null when it does not come within `withinMs` of real time. */
  from(port: number, withinMs: number): Promise<Entry | null>;
  /** Notes that an entry repeats another. */
  markReplay(entry: Entry, of: number): void;
  /** New entries that fit, several at a time, until `signal` aborts or the recorder closes. */
  watch(fits: (entry: Entry) => boolean, signal?: AbortSignal): AsyncGenerator<NewEntries, void, void>;
  close(): void;
}

export function createRecorder(
  clock: Pick<AdjustableClock, 'state' | 'realTimer'>,
  { onChanged }: { onChanged: () => void },
): Recorder {
  /** A ring: entry `number` is at `number % ENTRIES_MAX`. */
  const ring: (Entry | undefined)[] = [];
  let nextNumber = 1;
  let oldest = 1;
  let bytes = 0;
  const awaited = new Map<number, (entry: Entry) => void>();
  const watchers = new Set<Watcher>();
  let closed = false;

  const at = (number: number): Entry | undefined => ring[number % ENTRIES_MAX];

  function forgetOldest(): void {
    const entry = at(oldest);
    if (entry !== undefined) bytes -= sizeOf(entry);
    ring[oldest % ENTRIES_MAX] = undefined;
    oldest += 1;
  }

  return {
    take(exchange) {
      const { record } = exchange;
      if (record === null || closed) return;
      const { now, realNow } = clock.state();
      const entry: Entry = {
        ...exchange,
        record,
        number: nextNumber,
        atMs: now - exchange.durationMs,
        realAtMs: realNow - exchange.durationMs,
        replayOf: null,
      };
      if (nextNumber - oldest >= ENTRIES_MAX) forgetOldest();
      ring[nextNumber % ENTRIES_MAX] = entry;
      nextNumber += 1;
      bytes += sizeOf(entry);
      while (bytes > BYTES_MAX && oldest < nextNumber - 1) forgetOldest();
      awaited.get(exchange.port)?.(entry);
      for (const watcher of watchers) watcher.take(entry);
      onChanged();
    },
    *newestFirst(before = nextNumber) {
      for (let number = Math.min(before, nextNumber) - 1; number >= oldest; number--) {
        const entry = at(number);
        if (entry !== undefined) yield entry;
      }
    },
    get: (number) => (number >= oldest && number < nextNumber ? (at(number) ?? null) : null),
    size: () => nextNumber - oldest,
    clear() {
      const count = nextNumber - oldest;
      ring.length = 0;
      oldest = nextNumber;
      bytes = 0;
      for (const watcher of watchers) watcher.forget();
      onChanged();
      return count;
    },
    from(port, withinMs) {
      for (const entry of this.newestFirst()) if (entry.port === port) return Promise.resolve(entry);
      return new Promise((resolve) => {
        const settle = (entry: Entry | null): void => {
          timer.cancel();
          awaited.delete(port);
          resolve(entry);
        };
        const timer = clock.realTimer(withinMs, () => settle(null));
        awaited.set(port, settle);
      });
    },
    markReplay(entry, of) {
      entry.replayOf = of;
    },
    async *watch(fits, signal) {
      if (closed || watchers.size >= WATCHERS_MAX) return;
      const watcher = createWatcher(clock, fits);
      const end = (): void => watcher.end();
      watchers.add(watcher);
      signal?.addEventListener('abort', end, { once: true });
      if (signal?.aborted === true) end();
      try {
        for (let told = await watcher.next(); told !== null; told = await watcher.next()) yield told;
      } finally {
        watchers.delete(watcher);
        signal?.removeEventListener('abort', end);
      }
    },
    close() {
      closed = true;
      for (const watcher of watchers) watcher.end();
    },
  };
}

interface Watcher {
  take(entry: Entry): void;
  /** What has not been told yet will not be, and what has been is gone. */
  forget(): void;
  /** What is new, as soon as there is any; null after the end. */
  next(): Promise<NewEntries | null>;
  end(): void;
}

function createWatcher(clock: Pick<Clock, 'realTimer'>, fits: (entry: Entry) => boolean): Watcher {
  let waiting: NewEntries = { entries: [], missed: 0, cleared: false };
  let tell: ((told: NewEntries | null) => void) | null = null;
  let timer: Timer | null = null;
  let ended = false;

  function flush(): void {
    timer = null;
    if (tell === null || !isNews(waiting)) return;
    const told = waiting;
    waiting = { entries: [], missed: 0, cleared: false };
    tell(told);
    tell = null;
  }

  return {
    take(entry) {
      if (ended || !fits(entry)) return;
      if (waiting.entries.length < TOLD_MAX) waiting.entries.push(entry);
      else waiting.missed += 1;
      timer ??= clock.realTimer(TELL_AFTER_MS, flush);
    },
    forget() {
      if (ended) return;
      waiting = { entries: [], missed: 0, cleared: true };
      timer ??= clock.realTimer(TELL_AFTER_MS, flush);
    },
    next() {
      if (ended) return Promise.resolve(null);
      return new Promise((resolve) => {
        tell = resolve;
        if (isNews(waiting) && timer === null) flush();
      });
    },
    end() {
      ended = true;
      timer?.cancel();
      tell?.(null);
      tell = null;
    },
  };
}

const isNews = ({ entries, cleared }: NewEntries): boolean => cleared || entries.length > 0;

function sizeOf({ record, target, authority }: Entry): number {
  return (
    ENTRY_BYTES +
    2 * (target.length + (authority?.length ?? 0)) +
    textsOf(record.requestFields) +
    textsOf(record.responseFields) +
    keptOf(record.requestBody) +
    keptOf(record.responseBody)
  );
}

function textsOf(fields: readonly string[]): number {
  let length = 0;
  for (const text of fields) length += text.length;
  return length;
}

function keptOf({ chunks }: RecordedBody): number {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length;
}
