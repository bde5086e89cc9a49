import { bytesOf } from './present.ts';
import type { RecordedBody } from '../model/exchange-record.ts';
import type { Entry } from './entry.ts';

/** The number of newest entries of each project that other traffic cannot displace. */
export const SHARE_ENTRIES = 100;

/** Limits on the entries of all projects together that are kept beyond the ring. */
export const RESERVE_ENTRIES_MAX = 2_000;
export const RESERVE_BYTES_MAX = 4 * 1024 * 1024;

/** The entries of one project, or of all requests that reached none. */
interface Share {
  /** Entries in the ring. */
  held: number;
  /** Numbers of the entries in the reserve, oldest first. */
  reserved: number[];
  dropped: number;
}

/**
 * The shares of projects in the log. The ring drops its oldest entry regardless of the project; the reserve keeps the
 * last ones of a quiet project beyond that. These are few, so plain objects suffice.
 */
export function createReserve() {
  const shares = new Map<string | null, Share>();
  /** In order of their numbers, because the ring drops them in this order. */
  const kept = new Map<number, { entry: Entry; bytes: number }>();
  let keptBytes = 0;

  function shareOf(projectId: string | null): Share {
    let share = shares.get(projectId);
    if (share === undefined) {
      share = { held: 0, reserved: [], dropped: 0 };
      shares.set(projectId, share);
    }
    return share;
  }

  function drop(share: Share): void {
    const number = share.reserved.shift();
    if (number === undefined) return;
    keptBytes -= kept.get(number)?.bytes ?? 0;
    kept.delete(number);
    share.dropped += 1;
  }

  function trim(share: Share): void {
    while (share.reserved.length > 0 && share.reserved.length + share.held > SHARE_ENTRIES) drop(share);
  }

  return {
    /** Counts an entry that the ring has added. */
    count(projectId: string | null): void {
      const share = shareOf(projectId);
      share.held += 1;
      if (share.reserved.length > 0) trim(share);
    },
    /** Counts an entry that the ring drops; returns true if it is in its project's share, and must be kept. */
    release(projectId: string | null): boolean {
      const share = shareOf(projectId);
      share.held -= 1;
      if (share.held < SHARE_ENTRIES) return true;
      share.dropped += 1;
      return false;
    },
    keep(entry: Entry): void {
      const share = shareOf(projectOf(entry));
      const copied = copyOf(entry);
      const bytes = sizeOf(copied);
      share.reserved.push(entry.number);
      kept.set(entry.number, { entry: copied, bytes });
      keptBytes += bytes;
      trim(share);
      while (kept.size > RESERVE_ENTRIES_MAX || keptBytes > RESERVE_BYTES_MAX) {
        const [oldest] = kept.values();
        if (oldest === undefined) return;
        drop(shareOf(projectOf(oldest.entry)));
      }
    },
    /** Oldest first; all are older than those in the ring. */
    entries: (): Entry[] => Array.from(kept.values(), ({ entry }) => entry),
    get: (number: number): Entry | null => kept.get(number)?.entry ?? null,
    size: (): number => kept.size,
    /** The number of entries, of one project or of all, dropped since the log was cleared. */
    dropped(projectId?: string): number {
      if (projectId !== undefined) return shares.get(projectId)?.dropped ?? 0;
      let sum = 0;
      for (const { dropped } of shares.values()) sum += dropped;
      return sum;
    },
    clear(): void {
      shares.clear();
      kept.clear();
      keptBytes = 0;
    },
  };
}

export const projectOf = ({ route }: Pick<Entry, 'route'>): string | null => route?.projectId ?? null;

/** A copy, because the ring overwrites its bytes. */
function copyOf(entry: Entry): Entry {
  const { record } = entry;
  const { handedMs, firstByteMs, requestFields, responseFields, frames } = record;
  return {
    ...entry,
    replayOf: entry.replayOf,
    record: {
      ...{ handedMs, firstByteMs, requestFields, responseFields, frames },
      requestBody: copyOfBody(record.requestBody),
      responseBody: copyOfBody(record.responseBody),
    },
  };
}

const copyOfBody = (body: RecordedBody): RecordedBody => ({
  chunks: body.chunks.length === 0 ? [] : [bytesOf(body)],
  bytes: body.bytes,
  ...(body.asShown !== undefined && { asShown: body.asShown }),
});

function sizeOf({ record }: Entry): number {
  const { requestFields, responseFields, requestBody, responseBody } = record;
  let size = 0;
  for (const text of [...requestFields, ...responseFields]) size += text.length;
  for (const chunk of [...requestBody.chunks, ...responseBody.chunks]) size += chunk.length;
  return size;
}
