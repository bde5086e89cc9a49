import { ORPCError } from '@orpc/server';
import { ERROR_CATALOGUE, VivariumError, type ErrorCode, type InputIssue } from '../contract/errors.ts';

/** What a failed request is answered with over HTTP, and what `vivarium call` prints. */
export interface FailureBody {
  code: string;
  message: string;
  /** Every wrong place of the input; only where there is one. */
  issues?: readonly InputIssue[];
}

export interface Failure {
  status: number;
  body: FailureBody;
}

type CatalogueError = ORPCError<ErrorCode, { issues: readonly InputIssue[] } | undefined>;

/** The form in which an error of the catalogue travels through oRPC: code, status and message as they are. */
export function toTransportError(error: VivariumError): CatalogueError {
  return new ORPCError<ErrorCode, { issues: readonly InputIssue[] } | undefined>(error.code, {
    status: error.status,
    message: error.message,
    data: error.issues.length > 0 ? { issues: error.issues } : undefined,
    cause: error,
  });
}

/** Whether an error is one of the catalogue already, and may be shown to the caller as it is. */
export function isCatalogueError(error: unknown): error is CatalogueError {
  return error instanceof ORPCError && Object.hasOwn(ERROR_CATALOGUE, error.code);
}

/** Status and body of an HTTP answer. What is no error of the catalogue says nothing of its cause. */
export function toFailure(error: unknown): Failure {
  if (error instanceof VivariumError) return toFailure(toTransportError(error));
  if (!isCatalogueError(error)) return toFailure(new VivariumError('internal_error', INTERNAL_ERROR_MESSAGE));
  const { code, message, status, data } = error;
  return { status, body: { code, message, ...(data === undefined ? {} : { issues: data.issues }) } };
}

export const INTERNAL_ERROR_MESSAGE = 'Vivarium failed at this; its log has the reason.';
