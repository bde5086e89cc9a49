import { ORPCError } from '@orpc/client';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';

export interface EntryDetailOptions extends Source {
  id: string;
  /** The entry itself if it is from an opened archive; null once the archive is closed. */
  archived?: TrafficDetail | null | undefined;
}

/** The time between two reads of a running entry. */
export const RUNNING_MS = 500;

/**
 * One entry with headers, bodies and timings. A finished exchange never changes, so it is read once, and after a
 * reconnect; a running one is read until it ends.
 */
export class EntryDetail {
  /** Null when the entry was dropped, or is from an earlier run of the engine. */
  readonly entry: LiveQuery<TrafficDetail | null>;
  #next: { cancel(): void } | undefined;

  constructor(source: EntryDetailOptions) {
    const { client, time, id, archived } = source;
    this.entry = new LiveQuery(source, [], async (signal) => {
      if (archived !== undefined) return archived;
      try {
        return await client.traffic.get({ id }, { signal });
      } catch (error) {
        // Keep a loaded entry even after newer ones have displaced it from the log.
        if (error instanceof ORPCError && error.code === 'not_found') return this.entry.value ?? null;
        throw error;
      }
    });
    this.entry.follow((value) => {
      if (value?.running !== true) return;
      this.#next?.cancel();
      this.#next = time.realTimer(RUNNING_MS, () => this.entry.reread());
    });
  }

  close(): void {
    this.#next?.cancel();
    this.entry.close();
  }
}
