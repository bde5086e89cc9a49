import { StandardRPCHandler } from '@orpc/server/standard';
import { ServerPeer } from '@orpc/standard-server-peer';
import { nextTurn } from '../base/next-turn.ts';
import { VivariumError } from '../contract/errors.ts';
import { isCatalogueError, toTransportError } from './failure.ts';
import type { ControlRouter } from './router.ts';

/** Calls and streams that one window or browser tab may have open at once; a view has some ten. */
export const SESSION_CALLS_MAX = 256;

/** One message of the RPC protocol, as WebSocket frames and message ports carry it. */
export type SessionMessage = string | ArrayBufferLike | Uint8Array;

type RpcHandler = StandardRPCHandler<Record<never, never>>;
type HandleRequest = NonNullable<Parameters<ServerPeer['message']>[1]>;

/** What one connected window or tab asks, over whatever carries its messages. */
export interface Session {
  /** Takes one message from the other side. Never rejects. */
  receive(message: SessionMessage): Promise<void>;
  /** Aborts everything that is under way. */
  close(): void;
}

export interface SessionOptions {
  handler: RpcHandler;
  /** Resolves when the message has left; streams wait for it, so that a slow reader slows its streams down. */
  send: (message: SessionMessage) => Promise<void> | void;
  /** The other side does not keep to the protocol; the connection should be closed. */
  onViolation: (reason: string) => void;
}

/** The RPC protocol's view of a router: what all sessions share. */
export function createRpcHandler(router: ControlRouter): RpcHandler {
  return new StandardRPCHandler(router, {
    interceptors: [
      async ({ next }) => {
        try {
          return await next();
        } catch (error) {
          if (isCatalogueError(error)) throw error;
          // The router reports whatever its procedures do; anything else has gone wrong before one was reached.
          throw toTransportError(new VivariumError('invalid_request', 'The call could not be read.', { cause: error }));
        }
      },
    ],
  });
}

export function createSession({ handler, send, onViolation }: SessionOptions): Session {
  const peer = new ServerPeer(async (message) => {
    await send(message);
    // A stream whose values are ready would otherwise let nothing else run, the message that ends it included.
    await nextTurn();
  });
  const handle: HandleRequest = async (request) => {
    const { response } = await handler.handle(
      { ...request, body: () => Promise.resolve(request.body) },
      { context: {} },
    );
    return response ?? unknownProcedure(request.url.pathname);
  };
  let calls = 0;
  return {
    async receive(message) {
      let understood = false;
      try {
        await peer.message(message, (request) => {
          understood = true;
          if (++calls > SESSION_CALLS_MAX) onViolation(`more than ${SESSION_CALLS_MAX} calls at once`);
          return handle(request);
        });
      } catch {
        // After that, only sending can have failed: the other side has gone, and its close says so.
        if (!understood) onViolation('a message that is none of the RPC protocol');
      } finally {
        if (understood) calls--;
      }
    },
    close: () => peer.close(),
  };
}

function unknownProcedure(pathname: string): Awaited<ReturnType<HandleRequest>> {
  const error = toTransportError(new VivariumError('not_found', `There is no procedure at ${pathname.slice(0, 100)}.`));
  return { status: error.status, headers: {}, body: { json: error.toJSON() } };
}
