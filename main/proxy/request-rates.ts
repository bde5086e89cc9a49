import type { Clock } from '../base/clock.ts';
import { createProjectRings, createStepRing } from '../base/rings.ts';

/** The number of seconds covered, so a newly opened interface shows the recent past. */
export const RATE_SECONDS = 300;

/** Projects counted separately, 2.4 kB each. A new one replaces the one idle for longest. */
export const RATE_PROJECTS_MAX = 256;

const SECOND_MS = 1_000;

/** Whole seconds of real time, oldest first, without the current one. */
export interface RateReading {
  /** Milliseconds of real time since the last of these seconds ended. */
  ageMs: number;
  requests: number[];
  refused: number[];
  running: number;
}

/** Requests per second, for each project and for all. */
export function createRequestRates(clock: Pick<Clock, 'monotonic'>) {
  const rings = createProjectRings({ clock, stepMs: SECOND_MS, projectsMax: RATE_PROJECTS_MAX, createRing });
  return {
    /** Cheap enough for the hot path. */
    count: (projectId: string | null, refused: boolean) => rings.count(projectId, refused),
    /** One project's counts, or all. */
    read(projectId?: string): RateReading {
      const { ring, step, ageMs } = rings.read(projectId);
      return { ageMs, ...ring.before(step) };
    },
    forget: (projectId: string) => rings.forget(projectId),
  };
}

function createRing() {
  // One extra slot for the current second.
  const requests = new Uint32Array(RATE_SECONDS + 1);
  const refusals = new Uint32Array(RATE_SECONDS + 1);
  const ring = createStepRing(RATE_SECONDS, (slot) => {
    requests[slot] = refusals[slot] = 0;
  });
  return {
    count(second: number, refused: boolean): void {
      const slot = ring.slotOf(second);
      requests[slot] = (requests[slot] ?? 0) + 1;
      if (refused) refusals[slot] = (refusals[slot] ?? 0) + 1;
    },
    /** The seconds before `second`, the current one. */
    before(second: number): Omit<RateReading, 'ageMs'> {
      const slots = ring.slotsBefore(second, RATE_SECONDS);
      const read = (counts: Uint32Array): number[] => slots.map((slot) => counts[slot] ?? 0);
      return { requests: read(requests), refused: read(refusals), running: requests[ring.slotOf(second)] ?? 0 };
    },
  };
}
