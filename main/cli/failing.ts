import { VivariumError, type InputIssue } from '../contract/errors.ts';
import { EXIT_FAILED, EXIT_NOT_RUNNING } from './io.ts';
import { NotRunningError } from './running.ts';

/** An error as the control port reports it. */
export interface Failure {
  code: string;
  message: string;
  issues?: InputIssue[];
}

/** A failure that came from the other side, in its own words. */
export class RemoteFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** An error as `{code, message, …}`. What is none of the catalogue is told by its own message: it happened here. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RemoteFailure) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof VivariumError)) return { code: 'internal_error', message };
  return { code: error.code, message, ...(error.issues.length > 0 ? { issues: [...error.issues] } : {}) };
}

export const exitCodeOf = (error: unknown): number =>
  error instanceof NotRunningError ? EXIT_NOT_RUNNING : EXIT_FAILED;
