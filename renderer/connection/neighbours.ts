import type { RealTime } from '../shared/time/real-time.ts';
import { isToken } from './sign-in-link.ts';

/** Other tabs answer within a turn or two, unless they are suspended. */
export const NEIGHBOUR_MS_MAX = 500;

/** A BroadcastChannel: it reaches the tabs of this origin only, so none of another port or site. */
export interface Channel {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

type Message = { kind: 'ask'; asker: string } | { kind: 'tell'; asker: string; token: string };

export interface NeighboursOptions {
  channel: Channel;
  time: RealTime;
  /** The token of this tab while it is signed in, else null. */
  token: () => string | null;
}

/**
 * Signs a new tab in through other tabs. A cookie would work too, but browsers send it to every port of the host, and
 * so to every other program that serves pages here.
 */
export function createNeighbours({ channel, time, token }: NeighboursOptions) {
  const asking = new Map<string, (token: string) => void>();

  channel.addEventListener('message', ({ data }) => {
    const message = data as Partial<Message> | null;
    if (typeof message?.asker !== 'string') return;
    const own = token();
    if (message.kind === 'ask' && own !== null) {
      channel.postMessage({ kind: 'tell', asker: message.asker, token: own } satisfies Message);
    } else if (message.kind === 'tell' && typeof message.token === 'string' && isToken(message.token)) {
      asking.get(message.asker)?.(message.token);
    }
  });

  return {
    /** The token of another tab; null when none is signed in. */
    async ask(): Promise<string | null> {
      const asker = crypto.getRandomValues(new Uint32Array(4)).join('-');
      const { promise, resolve } = Promise.withResolvers<string | null>();
      asking.set(asker, resolve);
      const timer = time.realTimer(NEIGHBOUR_MS_MAX, () => resolve(null));
      channel.postMessage({ kind: 'ask', asker } satisfies Message);
      try {
        return await promise;
      } finally {
        timer.cancel();
        asking.delete(asker);
      }
    },
  };
}
