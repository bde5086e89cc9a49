import type { BreakEntry } from '../../contract/breaks.ts';

/** Connections below HTTP. */
export const CONNECTION_ENTRIES: readonly BreakEntry[] = [];
