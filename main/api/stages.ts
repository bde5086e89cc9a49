import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import { success, type Body } from './answer.ts';
import { hasBody } from './drain.ts';
import { attachedExchange, type Exchange } from './exchange.ts';
import { gone, thrown, unauthorized } from './failures.ts';
import type { Handler } from './handlers.ts';
import { unsupportedBody } from './media-type.ts';
import type { Operation } from './operations.ts';
import type { Paths } from './paths.ts';
import type { Responder } from './responder.ts';

export interface StageDependencies {
  clock: Clock;
  log: Log;
  responder: Responder;
  paths: Paths;
  /** The exchange of a request that did not come through `handle`: one that the API makes to itself. */
  ownExchange(request: FastifyRequest, reply: FastifyReply): Exchange;
}

type Stage = (request: FastifyRequest, reply: FastifyReply) => void;

/** What Fastify calls on a request's way. Each either lets it go on or has the responder answer it. */
export interface Stages {
  /** Once routed: 404, 401, 410, 415, in this order and before anything of the body is read. */
  gate(operation: Operation): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;
  /** Once validated: the handler. */
  run(handler: Handler): Stage;
  /** The OpenAPI document; it needs no key. */
  describe(document: (baseUrl: string) => Body): Stage;
  /** Not routed: 404, 405, or a plain OPTIONS. */
  unrouted: Stage;
  /** Not even a path: 400. */
  malformedPath: Stage;
  fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void;
}

export function createStages({ clock, log, responder, paths, ownExchange }: StageDependencies): Stages {
  const exchangeOf = (request: FastifyRequest, reply: FastifyReply): Exchange =>
    attachedExchange(request.raw) ?? ownExchange(request, reply);

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const exchange = exchangeOf(request, reply);
    responder.send(exchange, request.is404 ? paths.unrouted(exchange) : thrown(error, exchange, log));
  }

  function unrouted(request: FastifyRequest, reply: FastifyReply): void {
    const exchange = exchangeOf(request, reply);
    responder.send(exchange, paths.unrouted(exchange));
  }

  return {
    gate:
      ({ params, body, retirement }) =>
      (request, reply, done) => {
        // The router takes "/pets/" for "/pets/{petId}" with an empty id; to us it is a path that isn't there.
        if (params !== undefined && Object.values(request.params as object).includes('')) {
          return unrouted(request, reply);
        }
        const exchange = exchangeOf(request, reply);
        exchange.retirement = retirement ?? null;
        if (!exchange.context.authorized) return responder.send(exchange, unauthorized(exchange));
        if (retirement !== undefined && clock.now() >= retirement.sunsetAtMs) {
          return responder.send(exchange, gone(retirement));
        }
        // Fastify takes a request without Content-Type and Content-Length for one without body; HTTP/2 needs neither.
        const untyped = body !== undefined && request.headers['content-type'] === undefined && hasBody(request.raw);
        if (untyped) return fail(unsupportedBody(request.headers), request, reply);
        done();
      },

    run: (handler) => (request, reply) => {
      const exchange = exchangeOf(request, reply);
      const answer = handler(exchange.context, request);
      if (!(answer instanceof Promise)) return responder.send(exchange, answer);
      answer.then(
        (ready) => responder.send(exchange, ready),
        (error: unknown) => fail(error, request, reply),
      );
    },

    describe: (document) => (request, reply) => {
      const exchange = exchangeOf(request, reply);
      responder.send(exchange, success(200, document(exchange.context.baseUrl)));
    },

    unrouted,

    malformedPath(request, reply) {
      const malformed = new VivariumError(
        'invalid_request',
        'The path has a malformed percent-encoding; write % itself as %25, and other characters as UTF-8.',
      );
      const exchange = exchangeOf(request, reply);
      responder.send(exchange, thrown(malformed, exchange, log));
    },

    fail,
  };
}
