import { collectYoung } from '../../base/heap.ts';

/** Small enough to keep memory level, large enough for a collection not to show in the throughput. */
const BYTES_BETWEEN = 4 * 1024 * 1024;

let passed = 0;

/** Counts bytes that pass through in buffers of their own, and has them collected from time to time. */
export function countPassedBytes(bytes: number): void {
  passed += bytes;
  if (passed < BYTES_BETWEEN) return;
  passed = 0;
  collectYoung();
}
