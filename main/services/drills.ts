import type { Services } from '../contract/index.ts';
import { isReading } from '../contract/reading.ts';
import type { Drills } from '../drills/drills.ts';

export const createDrillServices = (drills: Drills): Services['drills'] => ({
  list: () => drills.list(),
  start: ({ drill }) => drills.start(drill),
  hint: () => drills.hint(),
  answer: (input) => drills.answer(input?.cause),
  stop: () => drills.stop(),
});

/** Parts of an input that say what was done, and are no secret. */
const TOLD = ['hostname', 'zone', 'name', 'type', 'value', 'by', 'target', 'plan'];

/** How long the note of a call is at most. */
const NOTE_CHARACTERS_MAX = 160;

/** A call as a step of a drill, such as `records.put drill.test shop`; null for what only reads, and for the drill’s own. */
export function noteOf(procedure: string, input: unknown): string | null {
  if (isReading(procedure) || procedure.startsWith('drills.')) return null;
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const told = fields.flatMap(([name, value]) => (TOLD.includes(name) && typeof value === 'string' ? [value] : []));
  return [procedure, ...told].join(' ').slice(0, NOTE_CHARACTERS_MAX);
}
