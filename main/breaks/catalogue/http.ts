import type { BreakEntry } from '../../contract/breaks.ts';

/** Framing and content of HTTP. */
export const HTTP_ENTRIES: readonly BreakEntry[] = [];
