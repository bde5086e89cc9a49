import type { BreakEntry } from '../../contract/breaks.ts';

/** The certificate authority. */
export const CA_ENTRIES: readonly BreakEntry[] = [];
