import { implement, ORPCError, ValidationError, type AnyProcedure, type Router } from '@orpc/server';
import { isAsyncIteratorObject } from '@orpc/shared';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { isAboutFile, reasonOf } from '../base/error-code.ts';
import type { Log } from '../base/log.ts';
import { internalError, invalidRequest, unavailable, VivariumError } from '../contract/errors.ts';
import { contract, type CallContext, type Contract, type Services } from '../contract/index.ts';
import { INTERNAL_ERROR_MESSAGE, isCatalogueError, toTransportError } from './responses.ts';
import { summarizeIssues, toInputIssues, type SchemaIssue } from '../contract/issues.ts';
import { isReading, OUTCOME_MS_MAX } from '../contract/calls.ts';
import { createHash } from 'node:crypto';

/** The data that a transport passes on besides the input. */
export interface CallerContext {
  /** Identifies this call: if it is sent again under the same key, it is done once and has the same outcome. */
  idempotencyKey?: string | undefined;
}

/** The key of a call that may change something. */
const keyOf = (path: readonly string[], { idempotencyKey }: CallerContext): string | undefined =>
  isReading(path.join('.')) ? undefined : idempotencyKey;

/** The contract bound to its services, for every transport. */
export type ControlRouter = Router<Contract, CallerContext>;

type AnyService = (input: unknown, context: CallContext) => unknown;

type Run = (call: { input: unknown; signal?: AbortSignal | undefined; context: CallerContext }) => unknown;

interface Implementable {
  handler(run: Run): AnyProcedure;
}

export interface RouterOptions {
  log: Log;
  clock: Pick<Clock, 'monotonic'>;
  /** Converts a valid input for a service, such as a project's slug to its id. The identity by default. */
  resolve?: (input: unknown) => unknown;
  /** Called before each call with its valid input, as given. */
  onCall?: (procedure: string, input: unknown) => void;
}

/**
 * Binds `services` to the contract: validates input before the service and output before the caller sees it. Every
 * error, also one later in a stream, leaves as an error of the catalogue; others become `internal_error` without
 * details, and are logged in full. A call with an idempotency key that may change something is done once and
 * completely: its caller may have lost the connection, and request the outcome again.
 */
export function createRouter(services: Services, options: RouterOptions): ControlRouter {
  const { log, clock, resolve = (input: unknown) => input, onCall } = options;
  const outcomes = createOutcomes(clock);
  const keyed = implement(contract)
    .$context<CallerContext>()
    .use(async ({ next, path, context }, input, output) => {
      const key = keyOf(path, context);
      if (key === undefined) return next();
      return output(await outcomes.once(key, path.join('.'), input, async () => (await next()).output));
    });
  const implementer = keyed.use(async ({ next, path, procedure, signal }) => {
    const report = (error: unknown) => reported(error, { log, path, procedure, signal });
    try {
      const result = await next();
      const output: unknown = result.output;
      return isAsyncIteratorObject(output) ? { ...result, output: reportingStream(output, report) } : result;
    } catch (error) {
      throw await report(error);
    }
  });
  const implementable = implementer as unknown as Record<string, Record<string, Implementable>>;
  const router = Object.fromEntries(
    Object.entries(services as unknown as Record<string, Record<string, AnyService>>).map(([namespace, procedures]) => [
      namespace,
      Object.fromEntries(
        Object.entries(procedures).flatMap(([name, service]) => {
          const procedure = implementable[namespace]?.[name];
          // The cast discards the guarantee of the type `Services`, so check it at run time.
          if (procedure === undefined) throw new Error(`The contract has no procedure ${namespace}.${name}.`);
          const path = [namespace, name];
          const run: Run = ({ input, signal, context }) => {
            onCall?.(path.join('.'), input);
            return service(resolve(input), { signal: keyOf(path, context) === undefined ? signal : undefined });
          };
          return [[name, procedure.handler(run)]];
        }),
      ),
    ]),
  );
  return router as unknown as ControlRouter;
}

interface Call {
  log: Log;
  path: readonly string[];
  procedure: AnyProcedure;
  signal: AbortSignal | undefined;
}

async function reported(error: unknown, { log, path, procedure, signal }: Call): Promise<unknown> {
  if (isCatalogueError(error)) return error;
  if (error instanceof VivariumError) return toTransportError(error);
  if (isInputFault(error)) return toTransportError(await inputError(procedure, error.cause));
  const fields = { procedure: path.join('.'), error, ...causeOf(error) };
  // A caller that disconnects aborts its work; that is not an error.
  if (signal?.aborted === true) log.debug('A call ended because its caller disconnected', fields);
  else log.error('A call failed', fields);
  if (!isAboutFile(error)) return toTransportError(internalError(INTERNAL_ERROR_MESSAGE, { cause: error }));
  const what = (error as NodeJS.ErrnoException).path ?? 'a file';
  const message = `Vivarium can't use ${what}: ${reasonOf(error)}. Repair this, then try again.`;
  return toTransportError(unavailable(message, { cause: error }));
}

function isInputFault(error: unknown): error is ORPCError<'BAD_REQUEST', unknown> & { cause: ValidationError } {
  return error instanceof ORPCError && error.code === 'BAD_REQUEST' && error.cause instanceof ValidationError;
}

async function inputError(procedure: AnyProcedure, cause: ValidationError): Promise<VivariumError> {
  const schema = procedure['~orpc'].inputSchema;
  // A missing input names no field; an empty object yields the missing ones.
  const empty = cause.data === undefined ? await schema?.['~standard'].validate({}) : undefined;
  const found = (empty?.issues ?? cause.issues) as readonly SchemaIssue[];
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const wrong = toInputIssues(found, cause.data, known);
  return invalidRequest(summarizeIssues(wrong), { issues: wrong.issues });
}

function causeOf(error: unknown): { cause?: unknown; issues?: unknown } {
  if (!(error instanceof Error) || error.cause === undefined) return {};
  if (error.cause instanceof ValidationError) return { issues: error.cause.issues };
  return { cause: error.cause };
}

/** Wraps a stream to report its errors; forwards `return` immediately, even while a value is pending. */
function reportingStream(
  stream: AsyncIterator<unknown>,
  report: (error: unknown) => Promise<unknown>,
): AsyncIteratorObject<unknown> {
  const reporting: AsyncIteratorObject<unknown> = {
    async next() {
      try {
        return await stream.next();
      } catch (error) {
        throw await report(error);
      }
    },
    async return(value?: unknown) {
      return (await stream.return?.(value)) ?? { done: true, value };
    },
    [Symbol.asyncIterator]: () => reporting,
    async [Symbol.asyncDispose]() {
      await stream.return?.();
    },
  };
  return reporting;
}

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
