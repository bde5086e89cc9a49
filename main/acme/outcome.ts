import type { AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';
import { AcmeError, type ProblemType } from './problem.ts';

/** What a validation is about. */
export interface Task {
  readonly identifier: AcmeIdentifier;
  /** Whether it is for the names below the identifier. */
  readonly wildcard: boolean;
  /** Names the account that asks. */
  readonly accountUri: string;
  readonly token: string;
  /** `token.thumbprint` (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
}

/** What a validation did, and why it failed; null if it succeeded. */
export interface Outcome {
  readonly attempts: readonly AcmeAttempt[];
  readonly error: AcmeError | null;
  /** How long its success may be used by other orders, if not as long as any other. */
  readonly reuseMs?: number;
}

/** The answer to a DNS question: its records, none of them, or why there is no answer. */
export type Answered =
  | { readonly ok: true; readonly values: readonly string[]; readonly ttlSeconds?: number }
  | { readonly ok: false; readonly detail: string };

/** The whole time of one validation, in real milliseconds; Boulder allows 10 s for each request. */
export const VALIDATION_MS_MAX = 10_000;

export const failed = (type: ProblemType, detail: string, attempts: readonly AcmeAttempt[] = []): Outcome => ({
  attempts,
  error: new AcmeError(type, detail),
});

/** Text from elsewhere in a message: printable, and not long. */
export const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** Why a connection failed, such as `ECONNREFUSED`. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};
