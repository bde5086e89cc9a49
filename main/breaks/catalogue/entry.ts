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

/** The symptoms of a body that ends early: the bytes that were read, and those that are missing. */
export const endedAfter = (read: number, missing: number): BreakEntry['symptoms'] => ({
  curl: `curl: (18) transfer closed with ${missing} bytes remaining to read`,
  node: 'fetch: terminated: UND_ERR_SOCKET other side closed; http: ECONNRESET aborted',
  python: `IncompleteRead: IncompleteRead(${read} bytes read, ${missing} more expected)`,
  go: 'unexpected EOF',
});
