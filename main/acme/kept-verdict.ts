import type { CaaVerdict } from '../contract/caa.ts';

/** Of each name's records, and their characters: a record set may fill 64 kB, and is kept with every authorisation. */
const RECORDS_KEPT = 20;
const CHARACTERS_KEPT = 500;

const short = (text: string): string => (text.length > CHARACTERS_KEPT ? `${text.slice(0, CHARACTERS_KEPT)}…` : text);

const few = (records: readonly string[]): string[] => records.slice(0, RECORDS_KEPT).map(short);

/** A walk as it is kept with an authorisation: whole, unless its records are many or long; those that decide come first. */
export function keptVerdict(verdict: CaaVerdict): CaaVerdict {
  const decides = new Set(verdict.decisive);
  const decisiveFirst = (records: readonly string[]): string[] => [
    ...records.filter((record) => decides.has(record)),
    ...records.filter((record) => !decides.has(record)),
  ];
  return {
    ...verdict,
    message: short(verdict.message),
    change: short(verdict.change),
    // Edits whose value is cut would change something else.
    edits: verdict.edits.every(({ value }) => value.length <= CHARACTERS_KEPT)
      ? verdict.edits.slice(0, RECORDS_KEPT)
      : [],
    decisive: few(verdict.decisive),
    trace: verdict.trace.map((step) => ({
      ...step,
      reason: short(step.reason),
      records: few(step.records.length > RECORDS_KEPT ? decisiveFirst(step.records) : step.records),
    })),
    warnings: few(verdict.warnings),
  };
}
