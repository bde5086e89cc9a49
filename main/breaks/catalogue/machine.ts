import type { BreakEntry } from '../../contract/breaks.ts';

/** This machine, for drills of the doctor. */
export const MACHINE_ENTRIES: readonly BreakEntry[] = [];
