import { ORPCError } from '@orpc/client';
import type { TrafficDetail } from '../../main/contract/traffic.ts';
import { LiveQuery, type Source } from '../live/live-query.svelte.ts';

export interface EntryDetailOptions extends Source {
  id: string;
}

/**
 * One entry with headers, bodies and timings. A finished exchange never changes, so it is read once, and after a
 * reconnect.
 */
export class EntryDetail {
  /** Null when the entry was dropped, or is from an earlier run of the engine. */
  readonly entry: LiveQuery<TrafficDetail | null>;

  constructor({ client, changes, time, id }: EntryDetailOptions) {
    this.entry = new LiveQuery({
      changes,
      time,
      read: async (signal) => {
        try {
          return await client.traffic.get({ id }, { signal });
        } catch (error) {
          // Keep a loaded entry even after newer ones have displaced it from the log.
          if (error instanceof ORPCError && error.code === 'not_found') return this.entry.value ?? null;
          throw error;
        }
      },
      concerns: () => false,
    });
  }

  close(): void {
    this.entry.close();
  }
}
