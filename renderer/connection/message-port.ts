import { RPCLink } from '@orpc/client/message-port';
import { headersOf, type OpenLink, type Transport } from './transport.ts';

declare global {
  interface Window {
    /** Set by the preload script before the page's own scripts: this is the desktop window. */
    readonly vivariumDesktop?: true;
  }
}

/** The message type that the preload script handles; it transfers the port. */
export const CONNECT_MESSAGE = 'vivarium:connect';

/** A DOM MessagePort, or Node's in tests. */
type Port = InstanceType<typeof MessageChannel>['port1'];

export interface MessagePortTransportOptions {
  /** Takes one end of a channel to the engine; closes it when the engine stops or refuses it. */
  transferPort: (port: Port) => void;
}

/**
 * Reaches the engine through a channel; the preload script passes the other end to the main process. Needs no token.
 */
export function createMessagePortTransport({ transferPort }: MessagePortTransportOptions): Transport {
  return {
    open() {
      const { port1: port, port2: theirs } = new MessageChannel();
      const closed = new Promise<void>((resolve) => {
        port.addEventListener('close', () => resolve(), { once: true });
      });
      const opened: OpenLink = {
        link: new RPCLink({ port, headers: headersOf }),
        closed,
        close() {
          port.close();
          // Only the other end gets a close event. Pending calls must fail here too, and `closed` must resolve.
          port.dispatchEvent(new Event('close'));
        },
      };
      port.start();
      transferPort(theirs);
      return Promise.resolve(opened);
    },
  };
}
