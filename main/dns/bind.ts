import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import { codeOf } from '../base/error-code.ts';
import { ADDRESS_MISSING_CODES, portRefusal } from '../base/port-refusal.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Listening } from './sockets.ts';

/** Ports tried for "any free one": each must be free four times over, and the system knows only the first. */
const FREE_PORT_ATTEMPTS_MAX = 32;

export interface DnsListening {
  /** The one port of all sockets. */
  port: number;
  /** The addresses served, over UDP and TCP each. */
  addresses: string[];
  /** For people, such as that there is no IPv6. */
  warnings: string[];
}

export interface Opener {
  udp(address: string, port: number): Promise<Listening>;
  tcp(address: string, port: number): Promise<Listening>;
}

export interface Bound extends DnsListening {
  sockets: Listening[];
}

/**
 * Binds TCP and UDP on both loopback addresses, all on one port. For port 0 the system chooses, and chooses again when
 * one of the other sockets finds its choice taken. Where IPv6 is missing, that is a warning.
 * @throws VivariumError as `DnsServer.start`; nothing stays open then.
 */
export async function bindLoopback(open: Opener, port: number): Promise<Bound> {
  if (port !== 0) return bindPort(open, port);
  for (let attempt = 1; ; attempt++) {
    try {
      return await bindPort(open, 0);
    } catch (error) {
      if (!(error instanceof VivariumError) || error.code !== 'conflict' || attempt === FREE_PORT_ATTEMPTS_MAX)
        throw error;
    }
  }
}

async function bindPort(open: Opener, wanted: number): Promise<Bound> {
  const bound: Bound = { port: wanted, addresses: [], warnings: [], sockets: [] };
  try {
    for (const address of LOOPBACK_ADDRESSES) await bindAddress(open, address, bound);
  } catch (error) {
    await closeAll(bound.sockets);
    throw error;
  }
  return bound;
}

async function bindAddress(open: Opener, address: string, bound: Bound): Promise<void> {
  // TCP first: among its ports the system chooses one that is free; UDP's are the emptier of the two.
  for (const transport of ['tcp', 'udp'] as const) {
    try {
      const socket = await open[transport](address, bound.port);
      bound.sockets.push(socket);
      bound.port = socket.port;
    } catch (error) {
      const code = codeOf(error) ?? 'unknown error';
      if (address.includes(':') && transport === 'tcp' && ADDRESS_MISSING_CODES.has(code)) {
        bound.warnings.push(
          `DNS is served on ${bound.addresses.join(', ')} only: this machine has no ${address} (${code}).`,
        );
        return;
      }
      throw portRefusal(error, {
        port: bound.port,
        where: `${transport.toUpperCase()} on ${address}`,
        transport,
        option: '--dns-port',
      });
    }
  }
  bound.addresses.push(address);
}

export async function closeAll(sockets: readonly Listening[]): Promise<void> {
  await Promise.all(sockets.map((socket) => socket.close()));
}
