import { VivariumError } from '../contract/errors.ts';
import { RemoteFailure, type Failure } from './client.ts';
import { EXIT_FAILED, EXIT_NOT_RUNNING } from './io.ts';
import { NotRunningError } from './running.ts';

/** An error as `{code, message, …}`. What is none of the catalogue is told by its own message: it happened here. */
export function failureOf(error: unknown): Failure {
  if (error instanceof RemoteFailure) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof VivariumError)) return { code: 'internal_error', message };
  return { code: error.code, message, ...(error.issues.length > 0 ? { issues: [...error.issues] } : {}) };
}

export const exitCodeOf = (error: unknown): number =>
  error instanceof NotRunningError ? EXIT_NOT_RUNNING : EXIT_FAILED;
