import type { BreakEntry } from '../../contract/breaks.ts';

/** Names and DNS. */
export const DNS_ENTRIES: readonly BreakEntry[] = [];
