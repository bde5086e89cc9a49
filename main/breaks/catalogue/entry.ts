import type { BreakEntry, BreakFamily, BreakSelector } from '../../contract/breaks.ts';

type Written = Pick<BreakEntry, 'title' | 'cause' | 'remedy'> & Partial<Omit<BreakEntry, 'id' | 'family'>>;

/** Writes the entries of a family; `selectors` are those of an entry that names none. */
export const entryOf =
  (family: BreakFamily, selectors: readonly BreakSelector[]) =>
  (name: string, written: Written): BreakEntry => ({
    id: `${family}.${name}`,
    family,
    symptoms: {},
    selectors: [...selectors],
    parameters: [],
    ...written,
  });

export const OF_REQUEST: readonly BreakSelector[] = ['hostname', 'path', 'method', 'keyId', 'header'];

/** The same symptom for the clients that are tried over HTTP. */
export const everywhere = (symptom: string): BreakEntry['symptoms'] => ({
  curl: symptom,
  node: symptom,
  python: symptom,
  go: symptom,
});
