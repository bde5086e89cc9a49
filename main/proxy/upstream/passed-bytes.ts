import { collectYoung } from '../../base/heap.ts';

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
