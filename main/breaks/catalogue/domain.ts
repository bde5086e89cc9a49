import type { BreakEntry } from '../../contract/breaks.ts';

/** The life of custom domains: edits with an exact inverse. */
export const DOMAIN_ENTRIES: readonly BreakEntry[] = [];
