import { RPCLink } from '@orpc/client/websocket';
import type { RealTime } from '../time/real-time.ts';
import { SignInRefusedError, type OpenLink, type Transport } from './transport.ts';

/** The engine is on this machine: an upgrade that takes this long is one that a stopped process will never answer. */
const UPGRADE_MS_MAX = 5_000;

export interface WebSocketTransportOptions {
  /** The control port's origin, such as `http://127.0.0.1:4780`. */
  origin: string;
  token: string;
  time: RealTime;
}

/** Reaches the engine through `/rpc` of the control port. The token travels as a subprotocol, never in the URL. */
export function createWebSocketTransport({ origin, token, time }: WebSocketTransportOptions): Transport {
  const address = new URL('/rpc', origin);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';

  return {
    async open() {
      const socket = new WebSocket(address, ['vivarium', `token.${token}`]);
      const closed = new Promise<void>((resolve) => {
        socket.addEventListener('close', () => resolve(), { once: true });
      });
      if (!(await isOpened(socket, closed, time))) {
        if (await isRefused(origin, token)) throw new SignInRefusedError();
        throw new Error('The control port could not be reached.');
      }
      const opened: OpenLink = { link: new RPCLink({ websocket: socket }), closed, close: () => socket.close() };
      return opened;
    },
  };
}

async function isOpened(socket: WebSocket, closed: Promise<void>, time: RealTime): Promise<boolean> {
  const timer = time.realTimer(UPGRADE_MS_MAX, () => socket.close());
  const opened = new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
  });
  const result = await Promise.race([opened, closed.then(() => false)]);
  timer.cancel();
  return result;
}

/** A browser does not tell why an upgrade failed, so the same token is shown to a procedure over HTTP. */
async function isRefused(origin: string, token: string): Promise<boolean> {
  try {
    const response = await fetch(new URL('/api/status/get', origin), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
      signal: AbortSignal.timeout(UPGRADE_MS_MAX),
    });
    return response.status === 401;
  } catch {
    return false;
  }
}
