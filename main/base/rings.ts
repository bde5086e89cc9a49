import type { Clock } from './clock.ts';
import { LruMap } from './lru.ts';

/** Places for the last whole steps of time and for the one that is running, each used again when its time is over. */
export interface StepRing {
  /** The place of `step`. The places of the steps that have begun since the last call are emptied first. */
  placeOf(step: number): number;
  /** The places of the `count` steps before `step`, the oldest first. Before the process began, places are empty. */
  placesBefore(step: number, count: number): number[];
}

export function createStepRing(steps: number, empty: (place: number) => void): StepRing {
  // One place more for the step that is running.
  const length = steps + 1;
  let last = 0;

  function placeOf(step: number): number {
    for (let begun = Math.max(last + 1, step - steps); begun <= step; begun++) empty(begun % length);
    last = Math.max(last, step);
    return step % length;
  }

  return {
    placeOf,
    placesBefore(step, count) {
      placeOf(step);
      return Array.from({ length: count }, (_, index) => (step + length - count + index) % length);
    },
  };
}

/** What is counted of each step of real time: one ring for all projects together, and one for each. */
export interface ProjectRings<Item, Ring> {
  /** Cheap enough for the hot path. An item without a project counts among all. */
  count(projectId: string | null, item: Item): void;
  /** The ring of one project, or of all; the step that is running, and how many milliseconds ago it began. */
  read(projectId: string | undefined): { ring: Ring; step: number; ageMs: number };
  forget(projectId: string): void;
}

/** At most `projectsMax` projects have a ring: the one without requests for the longest time makes room. */
export function createProjectRings<Item, Ring extends { count(step: number, item: Item): void }>(options: {
  clock: Pick<Clock, 'monotonic'>;
  stepMs: number;
  projectsMax: number;
  createRing: () => Ring;
}): ProjectRings<Item, Ring> {
  const { clock, stepMs, projectsMax, createRing } = options;
  const all = createRing();
  const rings = new LruMap<Ring>(projectsMax);
  return {
    count(projectId, item) {
      const step = Math.floor(clock.monotonic() / stepMs);
      all.count(step, item);
      if (projectId !== null) rings.use(projectId, createRing).count(step, item);
    },
    read(projectId) {
      const nowMs = clock.monotonic();
      const step = Math.floor(nowMs / stepMs);
      const ring = projectId === undefined ? all : (rings.peek(projectId) ?? createRing());
      return { ring, step, ageMs: Math.floor(nowMs - step * stepMs) };
    },
    forget: (projectId) => rings.delete(projectId),
  };
}
