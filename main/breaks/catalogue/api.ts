import type { BreakEntry } from '../../contract/breaks.ts';

/** Meaning of the API. */
export const API_ENTRIES: readonly BreakEntry[] = [];
