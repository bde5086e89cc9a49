import type { EpochMs } from '../base/clock.ts';

/**
 * What the entries of one run are called: `trf_mi8x2k1a_12`. Numbers begin anew with every run, ids do not: what a link of an
 * earlier one leads to is gone, and no other request stands in its place.
 */
export interface EntryIds {
  idOf(number: number): string;
  /** Null for what is no id, and for those of other runs. */
  numberOf(id: string): number | null;
}

/** `startedAtMs`: real time, which no two runs over one data folder share. */
export function createEntryIds(startedAtMs: EpochMs): EntryIds {
  const prefix = `trf_${Math.floor(startedAtMs).toString(36)}_`;
  return {
    idOf: (number) => `${prefix}${number}`,
    numberOf(id) {
      const number = id.startsWith(prefix) ? id.slice(prefix.length) : '';
      return /^[1-9][0-9]{0,14}$/.test(number) ? Number(number) : null;
    },
  };
}
