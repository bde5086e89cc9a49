import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import { OUTCOME_MS_MAX } from '../contract/calls.ts';
import { toTransportError } from './responses.ts';

/** HTTP field name, and header of an RPC request, of draft-ietf-httpapi-idempotency-key-header. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Far more than a user submits in ten minutes; beyond either limit, the oldest outcomes are dropped. */
const OUTCOMES_MAX = 1_000;
const BYTES_MAX = 16 * 1024 * 1024;

const KEY = /^[\x21-\x7e]{1,100}$/;

interface Outcome {
  /** A digest of the procedure and its input. */
  call: string;
  settled: Promise<unknown>;
  /** When it settled, in milliseconds of `monotonic`; null while the call runs. */
  endedAt: number | null;
  bytes: number;
}

/**
 * The outcomes of calls with an idempotency key, answers and errors alike, in memory. Time is real and monotonic: answers
 * are lost and requested again on the wire, so moving the app's clock must neither drop an outcome nor keep it.
 */
export function createOutcomes(clock: Pick<Clock, 'monotonic'>) {
  /** Outcomes in the order in which they settled; running calls among them are skipped. */
  const outcomes = new Map<string, Outcome>();
  let bytes = 0;

  function forget(key: string, outcome: Outcome): void {
    outcomes.delete(key);
    bytes -= outcome.bytes;
  }

  function prune(): void {
    for (const [key, outcome] of outcomes) {
      if (outcome.endedAt === null) continue;
      const isOver = clock.monotonic() - outcome.endedAt >= OUTCOME_MS_MAX;
      if (!isOver && outcomes.size <= OUTCOMES_MAX && bytes <= BYTES_MAX) return;
      forget(key, outcome);
    }
  }

  function settle(key: string, outcome: Outcome, size: number): void {
    if (size > BYTES_MAX) {
      outcome.settled = Promise.reject(
        refusal('conflict', 'The call was done, but its answer is too large to repeat.'),
      );
      outcome.settled.catch(() => undefined);
    } else {
      outcome.bytes = size;
      bytes += size;
    }
    outcome.endedAt = clock.monotonic();
    outcomes.delete(key);
    outcomes.set(key, outcome);
    prune();
  }

  return {
    /**
     * Runs a call the first time its key is seen; later, returns the outcome of that first call, and waits for it.
     * @throws ORPCError `conflict` for a key that another call has used, `invalid_request` for one that is malformed
     */
    async once(key: string, procedure: string, input: unknown, run: () => Promise<unknown>): Promise<unknown> {
      if (!KEY.test(key)) {
        throw refusal('invalid_request', 'Idempotency-Key must be 1 to 100 visible ASCII characters.');
      }
      prune();
      const call = digest(procedure, input);
      const known = outcomes.get(key);
      if (known !== undefined) {
        if (known.call === call) return known.settled;
        throw refusal('conflict', 'This Idempotency-Key was used for another call; use a new one for each call.');
      }
      const settled = run();
      const outcome: Outcome = { call, settled, endedAt: null, bytes: 0 };
      outcomes.set(key, outcome);
      void settled.then(
        (answer) => settle(key, outcome, sizeOf(answer)),
        (error: unknown) => settle(key, outcome, sizeOf(error)),
      );
      return settled;
    },
  };
}

const refusal = (code: 'conflict' | 'invalid_request', message: string) =>
  toTransportError(new VivariumError(code, message));

const digest = (procedure: string, input: unknown): string =>
  createHash('sha256').update(procedure).update('\0').update(jsonOf(input)).digest('base64');

const sizeOf = (outcome: unknown): number => jsonOf(outcome).length;

/** JSON, including values that the RPC protocol supports and JSON does not. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? '';
