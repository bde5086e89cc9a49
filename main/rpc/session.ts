import { StandardRPCHandler } from '@orpc/server/standard';
import { ServerPeer } from '@orpc/standard-server-peer';
import { inFormOf } from '../base/system/own-command.ts';
import { nextTurn } from '../base/turns.ts';
import { invalidRequest, notFound } from '../contract/errors.ts';
import { isCatalogueError, toTransportError } from './responses.ts';
import { type CallerContext, type ControlRouter, IDEMPOTENCY_HEADER } from './router.ts';
import { onMessagePortClose, onMessagePortMessage, postMessagePortMessage } from '@orpc/client/message-port';

/** Calls and streams that one window or browser tab may have open at once; a view needs about ten. */
export const SESSION_CALLS_MAX = 256;

/** One message of the RPC protocol, as carried by WebSocket frames and message ports. */
export type SessionMessage = string | ArrayBufferLike | Uint8Array;

type RpcHandler = StandardRPCHandler<CallerContext>;
type HandleRequest = NonNullable<Parameters<ServerPeer['message']>[1]>;

export interface SessionOptions {
  handler: RpcHandler;
  /** Resolves when the message has been sent; streams await it, which applies the reader's backpressure. */
  send: (message: SessionMessage) => Promise<void> | void;
  /** The client violates the protocol; close the connection. */
  onViolation: (reason: string) => void;
}

/** The RPC protocol's view of a router, shared by all sessions. */
export function createRpcHandler(router: ControlRouter): RpcHandler {
  return new StandardRPCHandler(router, {
    interceptors: [
      async ({ next }) => {
        try {
          return await next();
        } catch (error) {
          if (isCatalogueError(error)) throw error;
          // The router reports errors of its procedures; any other error happened before a procedure was reached.
          throw toTransportError(invalidRequest('The call could not be read.', { cause: error }));
        }
      },
    ],
  });
}

/** The calls of one connected window or tab, independent of the transport. */
export function createSession({ handler, send, onViolation }: SessionOptions) {
  const peer = new ServerPeer(async (message) => {
    await send(message);
    // Yields to the event loop: a stream of ready values would otherwise block everything, including the message that
    // ends it.
    await nextTurn();
  });
  const handle: HandleRequest = async (request) => {
    const idempotencyKey = [request.headers[IDEMPOTENCY_HEADER]].flat()[0];
    const { response } = await inFormOf(undefined, () =>
      handler.handle({ ...request, body: () => Promise.resolve(request.body) }, { context: { idempotencyKey } }),
    );
    return response ?? unknownProcedure(request.url.pathname);
  };
  let calls = 0;
  return {
    /** Handles one message from the client. Never rejects. */
    async receive(message: SessionMessage): Promise<void> {
      let understood = false;
      try {
        await peer.message(message, (request) => {
          understood = true;
          if (++calls > SESSION_CALLS_MAX) onViolation(`more than ${SESSION_CALLS_MAX} calls at once`);
          return handle(request);
        });
      } catch {
        // From here on, only sending can have failed: the client has disconnected, and its close event reports that.
        if (!understood) onViolation('a message outside the RPC protocol');
      } finally {
        if (understood) calls--;
      }
    },
    close: () => peer.close(),
  };
}

function unknownProcedure(pathname: string): Awaited<ReturnType<HandleRequest>> {
  const error = toTransportError(notFound(`There is no procedure at ${pathname.slice(0, 100)}.`));
  return { status: error.status, headers: {}, body: { json: error.toJSON() } };
}

/** A port of Node, of the DOM or of Electron's main process. */
type ServedPort = Parameters<typeof onMessagePortMessage>[0] & { start?: () => void; close?: () => void };

/**
 * Serves `router` on a message port, for the desktop window. The other end gets full access to the contract: pass it to
 * the app window's own page only. Closes a port that violates the protocol. Returns a function that aborts all calls
 * and closes the port.
 */
export function upgradeMessagePort(router: ControlRouter, port: ServedPort): () => void {
  const session = createSession({
    handler: createRpcHandler(router),
    send: (message) => postMessagePortMessage(port, message),
    onViolation: () => close(),
  });
  const close = () => {
    session.close();
    port.close?.();
  };
  onMessagePortMessage(port, (message: unknown) => {
    if (isSessionMessage(message)) void session.receive(message);
    else close();
  });
  onMessagePortClose(port, () => session.close());
  port.start?.();
  return close;
}

const isSessionMessage = (message: unknown): message is SessionMessage =>
  typeof message === 'string' || message instanceof Uint8Array || message instanceof ArrayBuffer;
