import type { Clock } from '../base/clock.ts';

/** How far back the figures go: what someone who opens the interface has just missed. */
export const RATE_SECONDS = 300;

/** Projects that are counted one by one; 2.4 kB each. The one that has been silent longest makes room. */
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
  const all = createRing();
  /** In order of the last request: a Map keeps insertion order, and one that is counted is inserted anew. */
  const rings = new Map<string, Ring>();
  let latest: { projectId: string; ring: Ring } | null = null;

  function ringOf(projectId: string): Ring {
    // Most requests are for whom the one before was for.
    if (latest?.projectId === projectId) return latest.ring;
    let ring = rings.get(projectId);
    if (ring === undefined) {
      if (rings.size >= RATE_PROJECTS_MAX) rings.delete(rings.keys().next().value ?? '');
      ring = createRing();
    } else {
      rings.delete(projectId);
    }
    rings.set(projectId, ring);
    latest = { projectId, ring };
    return ring;
  }

  return {
    count(projectId, refused) {
      const second = Math.floor(clock.monotonic() / SECOND_MS);
      all.count(second, refused);
      ringOf(projectId).count(second, refused);
    },
    read(projectId) {
      const nowMs = clock.monotonic();
      const second = Math.floor(nowMs / SECOND_MS);
      const ring = projectId === undefined ? all : (rings.get(projectId) ?? createRing());
      return { ageMs: Math.floor(nowMs - second * SECOND_MS), ...ring.before(second) };
    },
    forget(projectId) {
      rings.delete(projectId);
      latest = null;
    },
  };
}

interface Ring {
  count(second: number, refused: boolean): void;
  /** The seconds before `second`, which is running. */
  before(second: number): Omit<RateReading, 'ageMs'>;
}

function createRing(): Ring {
  // One place more for the second that is running.
  const length = RATE_SECONDS + 1;
  const requests = new Uint32Array(length);
  const refusals = new Uint32Array(length);
  let last = 0;

  /** Empties the places of the seconds that have begun since the last look. */
  function moveTo(second: number): void {
    for (let begun = Math.max(last + 1, second - RATE_SECONDS); begun <= second; begun++) {
      requests[begun % length] = refusals[begun % length] = 0;
    }
    last = Math.max(last, second);
  }

  return {
    count(second, refused) {
      if (second !== last) moveTo(second);
      const place = second % length;
      requests[place] = (requests[place] ?? 0) + 1;
      if (refused) refusals[place] = (refusals[place] ?? 0) + 1;
    },
    before(second) {
      moveTo(second);
      const read = (counts: Uint32Array): number[] =>
        // The running second's place is followed by that of the oldest. Before the process began, places are empty.
        Array.from({ length: RATE_SECONDS }, (_, index) => counts[(second + 1 + index) % length] ?? 0);
      return { requests: read(requests), refused: read(refusals), running: requests[second % length] ?? 0 };
    },
  };
}
