import type { TrafficDetail } from '../../main/contract/traffic.ts';
import type { Client } from '../connection/transport.ts';
import { LiveQuery, type ChangeSource } from '../live/live-query.svelte.ts';
import type { RealTime } from '../time/real-time.ts';

export interface EntryDetailOptions {
  client: Client;
  changes: ChangeSource;
  time: RealTime;
  id: string;
}

/** One entry with headers, bodies and timings. What is over does not change: it is read once, and after a lost connection. */
export class EntryDetail {
  readonly entry: LiveQuery<TrafficDetail>;

  constructor({ client, changes, time, id }: EntryDetailOptions) {
    this.entry = new LiveQuery({
      changes,
      time,
      read: (signal) => client.traffic.get({ id }, { signal }),
      concerns: () => false,
    });
  }

  close(): void {
    this.entry.close();
  }
}
