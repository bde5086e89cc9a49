import { RPCLink } from '@orpc/client/websocket';
import type { RealTime } from '../shared/time/real-time.ts';
import { headersOf, SignInRefusedError, type OpenLink, type Transport } from './transport.ts';

/** The engine is on this machine, so a slower answer means a stopped process. */
const ANSWER_MS_MAX = 5_000;

export interface WebSocketTransportOptions {
  /** The control port's origin, such as `http://127.0.0.1:4780`. */
  origin: string;
  token: string;
  time: RealTime;
}

/**
 * Reaches the engine through `/rpc` of the control port. The token travels as a subprotocol, never in the URL.
 * After a failure, an HTTP request checks first whether the engine runs: browsers hide why an upgrade failed, and after
 * several failures they delay further WebSocket attempts by seconds, but not plain requests.
 */
export function createWebSocketTransport({ origin, token, time }: WebSocketTransportOptions): Transport {
  const address = new URL('/rpc', origin);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  let failedBefore = false;

  return {
    async open() {
      if (failedBefore) await probe(origin, token);
      const socket = new WebSocket(address, ['vivarium', `token.${token}`]);
      const closed = new Promise<void>((resolve) => {
        socket.addEventListener('close', () => resolve(), { once: true });
      });
      failedBefore = !(await isOpened(socket, closed, time));
      if (failedBefore) {
        await probe(origin, token);
        throw new Error('The control port answers, but does not upgrade to WebSocket.');
      }
      // The engine may be gone before the next attempt, whatever closed the socket.
      void closed.then(() => {
        failedBefore = true;
      });
      const opened: OpenLink = {
        link: new RPCLink({ websocket: socket, headers: headersOf }),
        closed,
        close() {
          socket.close();
          // Browsers report it only once the engine has agreed to it, which a stopped one never does.
          socket.dispatchEvent(new CloseEvent('close'));
        },
      };
      return opened;
    },
  };
}

async function isOpened(socket: WebSocket, closed: Promise<void>, time: RealTime): Promise<boolean> {
  const timer = time.realTimer(ANSWER_MS_MAX, () => socket.close());
  const opened = new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
  });
  const result = await Promise.race([opened, closed.then(() => false)]);
  timer.cancel();
  return result;
}

/**
 * Sends the token to a procedure over HTTP; resolves on an answer.
 * @throws SignInRefusedError when the engine rejects the token, another error when no answer arrives in time.
 */
async function probe(origin: string, token: string): Promise<void> {
  const response = await fetch(new URL('/api/status/get', origin), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  if (response.status === 401) throw new SignInRefusedError();
  // Any other answer, including an error of that procedure, proves that an engine is there.
  if (response.status === 503) throw new Error('Vivarium is stopping, or not ready yet.');
}
