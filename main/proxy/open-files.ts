import { readFileSync } from 'node:fs';

/**
 * The limit on files and sockets open in this process; null if it cannot be read without starting a program. Node
 * raises its soft limit to the hard one at start, so the soft limit applies.
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
 * The maximum number of open connections. When descriptors run out, the system silently drops new clients, so half of
 * them are reserved for databases, logs and upstreams.
 */
export function boundConnections(wantedMax: number, openFilesMax: number | null): number {
  return openFilesMax === null ? wantedMax : Math.max(1, Math.min(wantedMax, Math.floor(openFilesMax / 2)));
}
