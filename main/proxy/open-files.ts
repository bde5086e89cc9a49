import { readFileSync } from 'node:fs';

/**
 * How many files and sockets this process may have open; null where that cannot be read without starting a program.
 * Node raises its soft limit to the hard one when it starts, so the soft one is what counts.
 */
export function readOpenFilesMax(file: string = '/proc/self/limits'): number | null {
  try {
    const digits = /^Max open files\s+(\d+)\s/m.exec(readFileSync(file, 'utf8'))?.[1];
    return digits === undefined ? null : Number(digits);
  } catch {
    return null;
  }
}

/**
 * How many connections to keep open at most, so that new clients can always be accepted: when descriptors run out, the
 * system drops them without a word. Half of the descriptors is left to databases, logs and upstreams.
 */
export function boundConnections(wantedMax: number, openFilesMax: number | null): number {
  return openFilesMax === null ? wantedMax : Math.max(1, Math.min(wantedMax, Math.floor(openFilesMax / 2)));
}
