import { nameOf } from '../../model/fault.ts';
import { API_FAULTS } from './api-faults.ts';
import { CONNECTION_FAULTS } from './connection-faults.ts';
import { holdAnswer, writeHeld } from './held-answer.ts';
import { HTTP_FAULTS } from './http-faults.ts';
import type { Breaking, Struck } from './struck.ts';

/** By entry id. */
export const FAULTS: ReadonlyMap<string, Breaking> = new Map(
  Object.entries({ ...CONNECTION_FAULTS, ...HTTP_FAULTS, ...API_FAULTS }),
);

/**
 * Breaks a selected request, or arranges for its answer to be broken; names the fault in its record. Returns whether
 * the request has been answered instead of by its target.
 */
export function breakRequest(struck: Struck): boolean {
  const { exchange, fault } = struck;
  const { record, response } = exchange;
  const breaking = FAULTS.get(fault.entry);
  if (breaking === undefined) return false;
  const name = (): void => {
    record.fault = nameOf(fault);
  };
  if ('instead' in breaking) {
    const outcome = breaking.instead(struck);
    if (outcome !== 'unfit') name();
    return outcome === 'answered';
  }
  name();
  const unname = (): void => {
    record.fault = exchange.connection.fault;
  };
  holdAnswer(response, {
    onComplete(answer) {
      if (response.destroyed) return;
      if (breaking.afterwards(struck, answer)) return;
      unname();
      writeHeld(response, answer);
    },
    onPassing: unname,
  });
  return false;
}
