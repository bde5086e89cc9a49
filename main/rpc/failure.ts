import { ORPCError } from '@orpc/server';
import { ERROR_CATALOGUE, VivariumError, type ErrorCode, type InputIssue } from '../contract/errors.ts';

/** Error body over HTTP, and output of `vivarium call`. */
export interface FailureBody {
  code: string;
  message: string;
  /** All invalid fields of the input; omitted if there are none. */
  issues?: readonly InputIssue[];
}

export interface Failure {
  status: number;
  body: FailureBody;
}

type CatalogueError = ORPCError<ErrorCode, { issues: readonly InputIssue[] } | undefined>;

/** Converts a catalogue error to oRPC's form, keeping code, status and message. */
export function toTransportError(error: VivariumError): CatalogueError {
  return new ORPCError<ErrorCode, { issues: readonly InputIssue[] } | undefined>(error.code, {
    status: error.status,
    message: error.message,
    data: error.issues.length > 0 ? { issues: error.issues } : undefined,
    cause: error,
  });
}

/** Whether an error is from the catalogue and may be shown to the caller unchanged. */
export function isCatalogueError(error: unknown): error is CatalogueError {
  return error instanceof ORPCError && Object.hasOwn(ERROR_CATALOGUE, error.code);
}

/** Status and body of an HTTP answer. Hides the cause of errors from outside the catalogue. */
export function toFailure(error: unknown): Failure {
  if (error instanceof VivariumError) return toFailure(toTransportError(error));
  if (!isCatalogueError(error)) return toFailure(new VivariumError('internal_error', INTERNAL_ERROR_MESSAGE));
  const { code, message, status, data } = error;
  return { status, body: { code, message, ...(data === undefined ? {} : { issues: data.issues }) } };
}

export const INTERNAL_ERROR_MESSAGE = 'Vivarium failed; its log has the reason.';
