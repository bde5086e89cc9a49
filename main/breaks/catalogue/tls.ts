import type { BreakEntry } from '../../contract/breaks.ts';

/** TLS and certificates. */
export const TLS_ENTRIES: readonly BreakEntry[] = [];
