import { fastify, type FastifyInstance, type FastifySchemaCompiler, type FastifyServerOptions } from 'fastify';
import type { z } from 'zod';
import type { Body } from './answer.ts';
import { readBody } from './body.ts';
import type { Handler } from './handlers.ts';
import { BASE_PATH, DOCUMENT_PATH, type Operation } from './operations.ts';
import { createStages, type StageDependencies } from './stages.ts';
import { bodyValidator, paramsValidator, queryValidator, type QueryCarrier } from './validation.ts';

/** Longer than any header section, so that a long identifier is a 400 that says why, like any other wrong one. */
const PARAMETER_LENGTH_MAX = 1024 * 1024;

/** An operation and what it does. */
export interface Endpoint {
  operation: Operation;
  handler: Handler;
}

export interface RoutingDependencies extends StageDependencies {
  endpoints: readonly Endpoint[];
  /** The OpenAPI document at a base address. */
  documentAt: (baseUrl: string) => Body;
}

/**
 * The Fastify instance, ready: it routes, calls the stages, the body parser and the validators. It listens nowhere, and
 * responses are written by the responder, not through Fastify's reply.
 */
export async function createRouting({
  endpoints,
  documentAt,
  ...dependencies
}: RoutingDependencies): Promise<FastifyInstance> {
  const stages = createStages(dependencies);
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: () => '',
    return503OnClosing: false,
    schemaController: { compilersFactory },
    routerOptions: {
      maxParamLength: PARAMETER_LENGTH_MAX,
      querystringParser: (text): QueryCarrier & Record<string, string> => ({ text }),
    },
    frameworkErrors: (_error, request, reply) => stages.malformedPath(request, reply),
  });

  // No parser at this level: the body of a request that leads nowhere is not read.
  app.removeAllContentTypeParsers();
  app.setErrorHandler(stages.fail);
  app.setNotFoundHandler(stages.unrouted);
  app.get(BASE_PATH + DOCUMENT_PATH, stages.describe(documentAt));
  app.register((scope, _options, done) => {
    scope.addContentTypeParser('*', (_request, payload, parsed) => readBody(payload, parsed));
    for (const { operation, handler } of endpoints) {
      scope.route({
        method: operation.method,
        url: BASE_PATH + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
        schema: routeSchema(operation),
        onRequest: stages.gate(operation),
        handler: stages.run(handler),
      });
    }
    done();
  });
  await app.ready();
  return app;
}

function routeSchema({ query, params, body }: Operation): Record<string, z.ZodObject> {
  return {
    ...(query === undefined ? {} : { querystring: query }),
    ...(params === undefined ? {} : { params }),
    ...(body === undefined ? {} : { body: body.schema }),
  };
}

const compileValidator: FastifySchemaCompiler<z.ZodObject> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return bodyValidator(schema);
  return httpPart === 'params' ? paramsValidator(schema) : queryValidator(schema);
};

/**
 * Without factories of our own, Fastify loads ajv and fast-json-stringify, which takes as long as everything else and
 * is not used. The types are those of ajv; Fastify itself calls them with whatever schema the route has.
 */
const compilersFactory = {
  buildValidator: () => compileValidator,
  buildSerializer: () => () => JSON.stringify,
} as unknown as NonNullable<FastifyServerOptions['schemaController']>['compilersFactory'];
