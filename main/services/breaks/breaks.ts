import { randomInt } from 'node:crypto';
import { CATALOGUE, pointOf } from '../../breaks/catalogue/index.ts';
import type { Breaks } from '../../breaks/breaks.ts';
import { parseDuration } from '../../contract/duration.ts';
import { DRILL_ENTRY } from '../../contract/breaks.ts';
import type { Services } from '../../contract/index.ts';
import { isReading } from '../../contract/calls.ts';
import type { Drills } from '../../drills/drills.ts';

const SEEDS = 2 ** 32;

export const createBreakServices = (breaks: Breaks): Services['breaks'] => ({
  catalogue: () => CATALOGUE.map((entry) => ({ ...entry, at: pointOf(entry) })),
  list: breaks.list,
  start: ({ for: length, seed = randomInt(SEEDS), ...rule }) =>
    breaks.start({ ...rule, seed, forMs: parseDuration(length) }),
  stop: ({ id }) => breaks.stop(id),
  stopAll: breaks.stopAll,
});

export const createDrillServices = (drills: Drills): Services['drills'] => ({
  list: () => drills.list(),
  start: ({ drill }) => drills.start(drill),
  hint: () => drills.hint(),
  answer: (input) => drills.answer(input?.cause),
  stop: () => drills.stop(),
});

/** The public view of breaks: the running drill is one of them, without its cause, and can be stopped like them. */
export function withDrill(breaks: Breaks, drills: Drills): Breaks {
  const shown = () => [drills.shown()].filter((each) => each !== null);
  return {
    ...breaks,
    list: () => [...breaks.list(), ...shown()],
    edited: () => [...breaks.edited(), ...shown().map(({ entry }) => entry)],
    async stop(id) {
      const [drill] = shown();
      if (id !== DRILL_ENTRY || drill === undefined) return breaks.stop(id);
      await drills.stopAny();
      return drill;
    },
    async stopAll() {
      const ended = shown();
      await drills.stopAny();
      return [...(await breaks.stopAll()), ...ended];
    },
  };
}

/** Input fields that describe a call and are not secret. */
const NOTED_FIELDS = ['hostname', 'zone', 'name', 'type', 'value', 'by', 'target', 'plan'];

/** Maximum length of the note of a call. */
const NOTE_CHARACTERS_MAX = 160;

/**
 * A call as a step of a drill, such as `records.put drill.test shop`; null for calls that only read, and for those of
 * the drill itself.
 */
export function noteOf(procedure: string, input: unknown): string | null {
  if (isReading(procedure) || procedure.startsWith('drills.')) return null;
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const noted = fields.flatMap(([name, value]) =>
    NOTED_FIELDS.includes(name) && typeof value === 'string' ? [value] : [],
  );
  return [procedure, ...noted].join(' ').slice(0, NOTE_CHARACTERS_MAX);
}
