import type { TrafficSummary } from '../../main/contract/traffic.ts';
import { LiveQuery, type Source } from '../live/live-query.svelte.ts';

/** How long after a step's end it is asked for, so that the engine is surely in the next one. */
const MARGIN_MS = 40;

export interface TrafficChartsOptions extends Source {
  /** Undefined: of everything. */
  projectId: string | undefined;
  minutes: number;
}

/** What traffic came to over the last minutes. The engine is asked at the end of each of its steps, and after a lost connection. */
export class TrafficCharts {
  readonly summary: LiveQuery<TrafficSummary>;
  #timer: { cancel(): void } | null = null;

  constructor({ client, changes, time, projectId, minutes }: TrafficChartsOptions) {
    this.summary = new LiveQuery({
      changes,
      time,
      read: async (signal) => {
        const input = { minutes, ...(projectId !== undefined && { projectId }) };
        const summary = await client.traffic.summary(input, { signal });
        this.#timer?.cancel();
        const untilEndMs = summary.stepSeconds * 1_000 - summary.ageMs;
        this.#timer = time.realTimer(Math.max(0, untilEndMs) + MARGIN_MS, () => {
          if (changes.following) this.summary.reread();
        });
        return summary;
      },
      // The steps are the engine's; nothing but time ends one.
      concerns: () => false,
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.summary.close();
  }
}
