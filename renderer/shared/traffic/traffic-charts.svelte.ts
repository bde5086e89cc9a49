import type { TrafficSummary } from '../../../main/contract/traffic.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** The delay after the end of a step, so the engine has surely finished it. */
const MARGIN_MS = 40;

export interface TrafficChartsOptions extends Source {
  /** Undefined for all projects. */
  projectId: string | undefined;
  minutes: number;
}

/** A range of real time, ISO 8601. */
export interface TimeRange {
  since: string;
  until: string;
}

/**
 * The traffic of the last minutes, or of a fixed part of the last half hour. Reads the engine's summary at the end of
 * each step, after requests that count towards a limit, and after a reconnect.
 */
export class TrafficCharts {
  readonly summary: LiveQuery<TrafficSummary>;
  /** The part that is shown instead of the last minutes. */
  zoomed = $state.raw<TimeRange | undefined>(undefined);
  #timer: { cancel(): void } | null = null;

  constructor(source: TrafficChartsOptions) {
    const { client, changes, time, projectId, minutes } = source;
    // Only time ends a step; the totals have the requests of the current one.
    this.summary = new LiveQuery(source, ['limits.changed', 'traffic.changed'], async (signal) => {
      const input = { minutes, ...this.zoomed, ...(projectId !== undefined && { projectId }) };
      const summary = await client.traffic.summary(input, { signal });
      this.#timer?.cancel();
      if (this.zoomed !== undefined) return summary;
      const untilEndMs = summary.stepSeconds * 1_000 - summary.ageMs;
      this.#timer = time.realTimer(Math.max(0, untilEndMs) + MARGIN_MS, () => {
        if (changes.following) this.summary.reread();
      });
      return summary;
    });
  }

  zoom(range: TimeRange | undefined): void {
    this.zoomed = range;
    this.summary.reread('now');
  }

  close(): void {
    this.#timer?.cancel();
    this.summary.close();
  }
}
