import type { Clock } from '../base/clock.ts';
import { createProjectRings, createStepRing } from '../base/rings.ts';

/** How far back the figures go: what someone who opens the interface has just missed. */
export const RATE_SECONDS = 300;

/** Projects that are counted one by one; 2.4 kB each. The one without requests for the longest time makes room. */
export const RATE_PROJECTS_MAX = 256;

const SECOND_MS = 1_000;

/** Whole seconds of real time, oldest first; the one that is running is not among them. */
export interface RateReading {
  /** How long ago the last of these seconds ended, in milliseconds of real time. */
  ageMs: number;
  requests: number[];
  /** Of the requests, those that were refused with 429. */
  refused: number[];
  /** Requests so far in the second that is running. */
  running: number;
}

/** How many requests there were in each of the last seconds, of all projects together and of each. */
export interface RequestRates {
  /** Cheap enough for the hot path. */
  count(projectId: string, refused: boolean): void;
  /** Of one project, or of all. */
  read(projectId?: string): RateReading;
  forget(projectId: string): void;
}

export function createRequestRates(clock: Pick<Clock, 'monotonic'>): RequestRates {
  const rings = createProjectRings({ clock, stepMs: SECOND_MS, projectsMax: RATE_PROJECTS_MAX, createRing });
  return {
    count: (projectId, refused) => rings.count(projectId, refused),
    read(projectId) {
      const { ring, step, ageMs } = rings.read(projectId);
      return { ageMs, ...ring.before(step) };
    },
    forget: (projectId) => rings.forget(projectId),
  };
}

interface Ring {
  count(second: number, refused: boolean): void;
  /** The seconds before `second`, which is running. */
  before(second: number): Omit<RateReading, 'ageMs'>;
}

function createRing(): Ring {
  // One more for the second that is running.
  const requests = new Uint32Array(RATE_SECONDS + 1);
  const refusals = new Uint32Array(RATE_SECONDS + 1);
  const ring = createStepRing(RATE_SECONDS, (place) => {
    requests[place] = refusals[place] = 0;
  });
  return {
    count(second, refused) {
      const place = ring.placeOf(second);
      requests[place] = (requests[place] ?? 0) + 1;
      if (refused) refusals[place] = (refusals[place] ?? 0) + 1;
    },
    before(second) {
      const places = ring.placesBefore(second, RATE_SECONDS);
      const read = (counts: Uint32Array): number[] => places.map((place) => counts[place] ?? 0);
      return { requests: read(requests), refused: read(refusals), running: requests[ring.placeOf(second)] ?? 0 };
    },
  };
}
