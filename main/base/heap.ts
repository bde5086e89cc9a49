import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/* Tunes V8's heap. Node and Electron both leave these flags at their defaults. */

/** Allowed growth over the live heap before a full collection. */
const GROWTH_PERCENT = 30;

/**
 * Keeps the heap close to its live size. By default V8 lets it grow to several times that under load, which saves less
 * than a hundredth of the time here but costs some 60 MB.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | null = null;

/**
 * Runs a young-generation collection, which takes up to a millisecond. Buffers lie outside V8's heap, and V8 accounts
 * for them late: it lets some 64 MB of streamed data accumulate before a full collection. Unnecessary for plain
 * objects, which V8 tracks itself.
 */
export function collectYoung(): void {
  collect ??= exposeCollector();
  collect({ type: 'minor' });
}

/** Enables the flag at run time, because not every host lets us set it at process start. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('globalThis.gc') as Collect | undefined;
  return exposed ?? (() => undefined);
}

/** Small enough to keep memory level, large enough for collections not to affect throughput. */
const BYTES_BETWEEN = 4 * 1024 * 1024;

let passed = 0;

/**
 * Counts forwarded bytes, each chunk in its own buffer, and triggers a young-generation collection from time to time.
 */
export function countPassedBytes(bytes: number): void {
  passed += bytes;
  if (passed < BYTES_BETWEEN) return;
  passed = 0;
  collectYoung();
}
