import type { Clock } from '../base/clock.ts';
import { LruMap } from '../base/lru.ts';
import type { RecordedExchange } from '../model/exchange-record.ts';

/** One time step, in real time. */
export const STEP_SECONDS = 5;

/** Half an hour. */
export const STEPS = 360;

/** Limit on projects with their own series, about 75 kB each. The one idle for longest makes room. */
export const SERIES_PROJECTS_MAX = 64;

const STEP_MS = STEP_SECONDS * 1_000;

/** Rows of the latency histogram: the first ends at 0.1 ms, each next one √2 times later, the last at about 100 s. */
const LATENCY_ROWS = 41;
const FIRST_ROW_MS = 0.1;

/** The counters of a step, in this order: answers by class, refusals, latencies by row. */
const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const REFUSED = CLASSES.length;
const LATENCIES = REFUSED + 1;
const WIDTH = LATENCIES + LATENCY_ROWS;

type StatusClass = (typeof CLASSES)[number];

/** Real milliseconds, estimated from histogram rows with an error of up to a fifth. Null without measurements. */
export interface Percentiles {
  p50: number | null;
  p90: number | null;
  p99: number | null;
}

/** Whole steps of real time, oldest first, without the current one. */
export interface SeriesReading {
  stepSeconds: number;
  /** Milliseconds of real time since the last step ended. */
  ageMs: number;
  requests: number[];
  /** The number of requests that a limit refused with 429. */
  refused: number[];
  /** Requests by status class; `none`: the client disconnected before the answer. */
  statuses: Record<StatusClass, number[]>;
  latencyMs: { [Name in keyof Percentiles]: Percentiles[Name][] };
  /** The highest share of its limit that any caller had used, from 0 to 1. Null if no request was counted. */
  quotaUsed: (number | null)[];
  /** Totals over all these steps, and the current one if none is skipped. */
  whole: Percentiles & { requests: number; refused: number; failed: number };
}

/** Traffic figures of the last half hour, counted even while recording is off. */
export function createSeries(clock: Pick<Clock, 'monotonic'>) {
  const rings = createProjectRings({ clock, stepMs: STEP_MS, projectsMax: SERIES_PROJECTS_MAX, createRing });
  return {
    /** Cheap enough for the hot path. */
    count: (exchange: RecordedExchange) => rings.count(countedFor(exchange), exchange),
    /** The last `steps` of one project, or of all; `skipped`: those before as many newer ones. */
    read(steps: number, projectId?: string, skipped: number = 0): SeriesReading {
      const { ring, step, ageMs } = rings.read(projectId);
      return { stepSeconds: STEP_SECONDS, ageMs: ageMs + skipped * STEP_MS, ...ring.read(step, steps, skipped) };
    },
    forget: (projectId: string) => rings.forget(projectId),
  };
}

export type Series = ReturnType<typeof createSeries>;

/** Calls of a provider's API count in the totals only: they are no requests to the project that makes them. */
const countedFor = ({ route }: RecordedExchange): string | null =>
  route === null || route.target.kind === 'provider' ? null : route.projectId;

function createRing() {
  // One extra slot for the current step.
  const counts = new Uint32Array((STEPS + 1) * WIDTH);
  const quotas = new Float32Array(STEPS + 1).fill(-1);
  const ring = createStepRing(STEPS, (slot) => {
    counts.fill(0, slot * WIDTH, (slot + 1) * WIDTH);
    quotas[slot] = -1;
  });

  function add(at: number): void {
    counts[at] = (counts[at] ?? 0) + 1;
  }

  return {
    count(step: number, { status, decision, durationMs }: RecordedExchange): void {
      const slot = ring.slotOf(step);
      const start = slot * WIDTH;
      add(start + (status === null ? 0 : Math.min(CLASSES.length - 1, Math.floor(status / 100))));
      // A tunnel's duration says nothing about latency.
      if (status !== 101) add(start + LATENCIES + latencyRowOf(durationMs));
      if (decision === null) return;
      if (decision.refusal !== null) add(start + REFUSED);
      const { limit, remaining } = decision.rate;
      const used = limit === 0 ? 1 : 1 - remaining / limit;
      if (used > (quotas[slot] ?? 0)) quotas[slot] = used;
    },
    read(step: number, steps: number, skipped: number): Omit<SeriesReading, 'stepSeconds' | 'ageMs'> {
      const slots = ring.slotsBefore(step, steps + skipped).slice(0, steps);
      // The totals include the current step: a request is in them as soon as it is in the list.
      const counted = skipped === 0 ? [...slots, ring.slotOf(step)] : slots;
      const column = (offset: number): number[] => slots.map((slot) => counts[slot * WIDTH + offset] ?? 0);
      const total = (...offsets: number[]): number =>
        sum(counted.flatMap((slot) => offsets.map((offset) => counts[slot * WIDTH + offset] ?? 0)));
      const columns = CLASSES.map((_, index) => column(index));
      const requests = slots.map((_, index) => columns.reduce((sum, counted) => sum + (counted[index] ?? 0), 0));
      const refused = column(REFUSED);
      const latencies = slots.map((slot) =>
        percentilesOf(counts.subarray(slot * WIDTH + LATENCIES, (slot + 1) * WIDTH)),
      );
      const together = new Uint32Array(LATENCY_ROWS);
      for (const slot of counted) {
        for (let at = 0; at < LATENCY_ROWS; at++) {
          together[at] = (together[at] ?? 0) + (counts[slot * WIDTH + LATENCIES + at] ?? 0);
        }
      }
      return {
        requests,
        refused,
        statuses: Object.fromEntries(CLASSES.map((name, index) => [name, columns[index] ?? []])) as Record<
          StatusClass,
          number[]
        >,
        latencyMs: {
          p50: latencies.map(({ p50 }) => p50),
          p90: latencies.map(({ p90 }) => p90),
          p99: latencies.map(({ p99 }) => p99),
        },
        quotaUsed: slots.map((slot) => {
          const used = quotas[slot] ?? -1;
          return used < 0 ? null : Math.round(used * 1_000) / 1_000;
        }),
        whole: {
          ...percentilesOf(together),
          requests: total(...CLASSES.keys()),
          refused: total(REFUSED),
          failed: total(CLASSES.indexOf('5xx'), CLASSES.indexOf('none')),
        },
      };
    },
  };
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

export function latencyRowOf(ms: number): number {
  if (ms <= FIRST_ROW_MS) return 0;
  return Math.min(LATENCY_ROWS - 1, Math.ceil(2 * Math.log2(ms / FIRST_ROW_MS)));
}

/** The upper end of a histogram row, in milliseconds. */
const endOf = (row: number): number => FIRST_ROW_MS * 2 ** (row / 2);

/** Percentiles of a histogram, interpolated linearly within each row. */
export function percentilesOf(counts: Uint32Array): Percentiles {
  const all = counts.reduce((total, count) => total + count, 0);
  const at = (share: number): number | null => {
    if (all === 0) return null;
    const wanted = share * all;
    let before = 0;
    for (let row = 0; row < counts.length; row++) {
      const count = counts[row] ?? 0;
      if (count > 0 && before + count >= wanted) {
        const from = row === 0 ? 0 : endOf(row - 1);
        const ms = from + ((endOf(row) - from) * (wanted - before)) / count;
        return Math.round(ms * 100) / 100;
      }
      before += count;
    }
    return null;
  };
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

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
  const rings = createProjectRings({
    clock,
    stepMs: SECOND_MS,
    projectsMax: RATE_PROJECTS_MAX,
    createRing: createSecondsRing,
  });
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

function createSecondsRing() {
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

/** Reusable slots for the current time step and those before it. */
function createStepRing(steps: number, empty: (slot: number) => void) {
  // One extra slot for the current step.
  const length = steps + 1;
  let last = 0;

  function slotOf(step: number): number {
    for (let begun = Math.max(last + 1, step - steps); begun <= step; begun++) empty(begun % length);
    last = Math.max(last, step);
    return step % length;
  }

  return {
    /** The slot of `step`. Clears the slots of all steps that began since the last call. */
    slotOf,
    /** The slots of the `count` steps before `step`, oldest first. Slots from before the process started are empty. */
    slotsBefore(step: number, count: number): number[] {
      slotOf(step);
      return Array.from({ length: count }, (_, index) => (step + length - count + index) % length);
    },
  };
}

/**
 * Counts per step of real time: one ring for all projects together, and one for each of up to `projectsMax` projects;
 * the one idle for longest makes room.
 */
function createProjectRings<Item, Ring extends { count(step: number, item: Item): void }>(options: {
  clock: Pick<Clock, 'monotonic'>;
  stepMs: number;
  projectsMax: number;
  createRing: () => Ring;
}) {
  const { clock, stepMs, projectsMax, createRing } = options;
  const all = createRing();
  const rings = new LruMap<Ring>(projectsMax);
  return {
    /** Cheap enough for the hot path. An item without a project counts only towards the total. */
    count(projectId: string | null, item: Item): void {
      const step = Math.floor(clock.monotonic() / stepMs);
      all.count(step, item);
      if (projectId !== null) rings.use(projectId, createRing).count(step, item);
    },
    /** The ring of one project, or of all, with the current step and the milliseconds since it began. */
    read(projectId: string | undefined): { ring: Ring; step: number; ageMs: number } {
      const nowMs = clock.monotonic();
      const step = Math.floor(nowMs / stepMs);
      const ring = projectId === undefined ? all : (rings.peek(projectId) ?? createRing());
      return { ring, step, ageMs: Math.floor(nowMs - step * stepMs) };
    },
    forget: (projectId: string) => rings.delete(projectId),
  };
}
