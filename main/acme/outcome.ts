import type { AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';
import { AcmeError, type ProblemType } from './problem.ts';

/** The subject of a validation. */
export interface Task {
  readonly identifier: AcmeIdentifier;
  /** Whether the authorization covers the wildcard below the identifier. */
  readonly wildcard: boolean;
  readonly accountUri: string;
  readonly token: string;
  /** `token.thumbprint` (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
}

/** The attempts of a validation, and its error; null if it succeeded. */
export interface Outcome {
  readonly attempts: readonly AcmeAttempt[];
  readonly error: AcmeError | null;
  /** How long other orders may reuse the success, if shorter than the profile's limit. */
  readonly reuseMs?: number;
}

/** The answer to a DNS question: its values, possibly none, or why the question failed. */
export type Answered =
  | { readonly ok: true; readonly values: readonly string[]; readonly ttlSeconds?: number }
  | { readonly ok: false; readonly detail: string };

/** Time limit of one whole validation, in real milliseconds; Boulder allows 10 s for each request. */
export const VALIDATION_MS_MAX = 10_000;

export const failed = (type: ProblemType, detail: string, attempts: readonly AcmeAttempt[] = []): Outcome => ({
  attempts,
  error: new AcmeError(type, detail),
});

/** Quotes foreign text for a message: printable and truncated. */
export const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** Why a connection failed, such as `ECONNREFUSED`. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};
