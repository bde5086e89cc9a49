import type { z } from 'zod';
import type { Answer } from '../base/http/answer.ts';
import type { Dataset } from '../model/pet.ts';
import type { TargetContext } from '../model/route.ts';
import type { HeaderName, Retirement } from './headers.ts';
import type { Pages, OrderSource, PetSource } from './pages.ts';
import { bodyReader, paramsReader, queryReader } from './validation.ts';

/** The error statuses that an operation documents; each has the Error body. */
export type FailureStatus = 400 | 401 | 404 | 410 | 413 | 415 | 429 | 500 | 503;

export interface Operation {
  operationId: string;
  method: 'GET' | 'POST';
  /** An OpenAPI path template relative to the base address: `/pets/{petId}`. */
  path: `/${string}`;
  tags: readonly string[];
  summary: string;
  description: string;
  query?: z.ZodObject;
  params?: z.ZodObject;
  body?: { schema: z.ZodObject; example: unknown };
  success: {
    status: 200 | 201;
    description: string;
    schema: z.ZodType;
    example: unknown;
    headers: readonly HeaderName[];
  };
  failures: readonly FailureStatus[];
  retirement?: Retirement;
  /** Emitted as the extension `x-stability`. */
  stability?: 'experimental' | 'beta';
}

/** The part of the stages' results that the API uses; a route names its dataset. */
export interface ApiContext extends Pick<TargetContext, 'keyId' | 'rate' | 'preflight' | 'origin'> {
  route: Dataset;
}

/** The dependencies of handlers. */
export interface Sources {
  pets: PetSource;
  orders: OrderSource;
  pages: Pages;
}

/** The parts of a request as sent; `body` is empty if there is none. */
export interface Sent {
  query: string;
  params: Readonly<Record<string, string>>;
  body: string;
}

/** An operation with its implementation. */
export interface Endpoint extends Operation {
  /**
   * Validates the parts that have a schema, and answers.
   * @throws VivariumError (or rejects with one), to be answered with its code and status.
   */
  call(sources: Sources, context: ApiContext, sent: Sent): Answer | Promise<Answer>;
}

/** The validated parts of a request, for those that have a schema. */
interface Input<Query extends z.ZodObject, Params extends z.ZodObject, Body extends z.ZodObject> {
  query: z.output<Query>;
  params: z.output<Params>;
  body: z.output<Body>;
}

/** Creates an endpoint from a row of the table; its handler receives the validated input with the schemas' types. */
export function endpoint<
  Query extends z.ZodObject = never,
  Params extends z.ZodObject = never,
  Body extends z.ZodObject = never,
>(
  row: Operation & {
    query?: Query;
    params?: Params;
    body?: { schema: Body };
    handle(sources: Sources, context: ApiContext, input: Input<Query, Params, Body>): Answer | Promise<Answer>;
  },
): Endpoint {
  const { handle, ...operation } = row;
  const query = operation.query === undefined ? nothing : queryReader(operation.query);
  const params = operation.params === undefined ? nothing : paramsReader(operation.params);
  const body = operation.body === undefined ? nothing : bodyReader(operation.body.schema);
  return {
    ...operation,
    call(sources, context, sent) {
      const input = { query: query(sent.query), params: params(sent.params), body: body(sent.body) };
      // The type of a part without a schema is `never`, so the handler cannot use it.
      return handle(sources, context, input as Input<Query, Params, Body>);
    },
  };
}

const nothing = (): undefined => undefined;
