import { ORPCError } from '@orpc/client';
import type { TrafficDetail } from '../../main/contract/traffic.ts';
import { LiveQuery, type Source } from '../live/live-query.svelte.ts';

export interface EntryDetailOptions extends Source {
  id: string;
}

/** One entry with headers, bodies and timings. What is over does not change: it is read once, and after a lost connection. */
export class EntryDetail {
  /** Null when it is gone, or was one of an earlier run of the engine. */
  readonly entry: LiveQuery<TrafficDetail | null>;

  constructor({ client, changes, time, id }: EntryDetailOptions) {
    this.entry = new LiveQuery({
      changes,
      time,
      read: async (signal) => {
        try {
          return await client.traffic.get({ id }, { signal });
        } catch (error) {
          // What has been read stays, whatever made room for newer ones meanwhile.
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
