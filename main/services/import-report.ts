import { boundedText, ISSUE_CHARACTERS_MAX } from '../contract/errors.ts';
import type { ImportReport } from '../contract/pets.ts';

/** Rejected rows that a report lists. */
const REJECTED_LISTED_MAX = 1_000;

/** Counts the results of rows, and lists the first rejected ones. */
export interface ReportWriter {
  /** Result of a row: null if it was imported, or the reason if not. */
  add(row: number, message: string | null): void;
  report(): ImportReport;
}

export function createReport(): ReportWriter {
  const rejected: ImportReport['rejected'] = [];
  let created = 0;
  let rejectedTotal = 0;
  return {
    add(row, message) {
      if (message === null) created++;
      else if (rejectedTotal++ < REJECTED_LISTED_MAX) {
        rejected.push({ row, message: boundedText(message, ISSUE_CHARACTERS_MAX) });
      }
    },
    report: () => ({ created, rejected, rejectedTotal }),
  };
}
