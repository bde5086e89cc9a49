import { RPCLink } from '@orpc/client/message-port';
import type { OpenLink, Transport } from './transport.ts';

declare global {
  interface Window {
    /** Set by the preload script, before the page's first line: this is the desktop's window. */
    readonly vivariumDesktop?: true;
  }
}

/** What the preload script listens for; the port travels with it. */
export const CONNECT_MESSAGE = 'vivarium:connect';

/** A port of the DOM, or of Node in tests. */
type Port = InstanceType<typeof MessageChannel>['port1'];

export interface MessagePortTransportOptions {
  /** Takes one end of a channel to the engine; closes it when the engine is gone or refuses it. */
  handOver: (port: Port) => void;
}

/** Reaches the engine through a channel whose other end the preload script hands to the main process. No token is needed. */
export function createMessagePortTransport({ handOver }: MessagePortTransportOptions): Transport {
  return {
    open() {
      const { port1: port, port2: theirs } = new MessageChannel();
      const closed = new Promise<void>((resolve) => {
        port.addEventListener('close', () => resolve(), { once: true });
      });
      const opened: OpenLink = {
        link: new RPCLink({ port }),
        closed,
        close() {
          port.close();
          // Only the other end is told of that. Calls that wait here must end too, and `closed` resolve.
          port.dispatchEvent(new Event('close'));
        },
      };
      port.start();
      handOver(theirs);
      return Promise.resolve(opened);
    },
  };
}
