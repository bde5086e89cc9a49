import type { AddressInfo, Server } from 'node:net';
import { VivariumError } from '../../contract/errors.ts';
import { codeOf } from '../error-code.ts';
import { describePortHolder, type Transport } from './port-holder.ts';

/** Attempts to draw a free port that is free on all addresses. */
const FREE_PORT_ATTEMPTS_MAX = 20;

/** One port number, bound on every address of this machine. */
export interface BoundPort<AnyServer extends Server = Server> {
  port: number;
  addresses: string[];
  servers: AnyServer[];
  /** Addresses that could not be bound, each in a sentence. */
  warnings: string[];
}

export interface BindOptions<AnyServer extends Server> {
  /** 0: any port that is free on all addresses. */
  port: number;
  /** The first one is required; a missing other one is a warning. */
  addresses: readonly string[];
  /** The option that sets the port, for errors: `--http-port`. */
  option: string;
  createServer: () => AnyServer;
}

/**
 * Binds one port number on all `addresses`.
 * @throws VivariumError `conflict` if the port is taken or needs privileges; its message names the port, its holder if
 *   known, and the option.
 */
export async function bindPort<AnyServer extends Server>(
  options: BindOptions<AnyServer>,
): Promise<BoundPort<AnyServer>> {
  for (let attempt = 1; ; attempt++) {
    const bound = await tryBind(options);
    if (bound !== null) return bound;
    if (attempt === FREE_PORT_ATTEMPTS_MAX) {
      throw new VivariumError(
        'conflict',
        `No port is free on all of ${options.addresses.join(', ')}. Choose one with ${options.option}.`,
      );
    }
  }
}

/** Null if the drawn port is taken on another address. */
async function tryBind<AnyServer extends Server>(
  options: BindOptions<AnyServer>,
): Promise<BoundPort<AnyServer> | null> {
  const bound: BoundPort<AnyServer> = { port: options.port, addresses: [], servers: [], warnings: [] };
  for (const address of options.addresses) {
    const server = options.createServer();
    try {
      bound.port = await listen(server, bound.port, address);
      bound.servers.push(server);
      bound.addresses.push(address);
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (bound.servers.length > 0 && ADDRESS_MISSING_CODES.has(code)) {
        bound.warnings.push(missingAddress(address, bound.addresses));
        continue;
      }
      for (const other of bound.servers) other.close();
      if (code === 'EADDRINUSE' && options.port === 0) return null;
      throw portRefusal(error, { port: bound.port, where: address, transport: 'tcp', option: options.option });
    }
  }
  return bound;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Error codes for a missing address: no IPv6, or none on loopback. */
export const ADDRESS_MISSING_CODES: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
  'EPROTONOSUPPORT',
  'ENOTSUP',
]);

export interface WantedPort {
  port: number;
  /** The address, optionally with transport: `127.0.0.1`, `UDP on ::1`. */
  where: string;
  transport: Transport;
  /** The option that sets the port: `--http-port`. */
  option: string;
}

/** The warning about an address that this machine lacks; one text for all ports, which the status shows once. */
export const missingAddress = (address: string, present: readonly string[]): string =>
  `This machine has no ${address}: Vivarium listens on ${present.join(', ')} only.`;

/** Explains why a port could not be bound, in one line that names the port, its holder if known, and the option. */
export function portRefusal(error: unknown, { port, where, transport, option }: WantedPort): VivariumError {
  const code = codeOf(error) ?? String(error);
  const change = `choose another port with ${option}`;
  return new VivariumError('conflict', `Port ${port} (${where}) ${reason()}`, { cause: error });

  function reason(): string {
    switch (code) {
      case 'EADDRINUSE':
        return `is taken${describePortHolder(port, transport)}. Stop it there, or ${change}; --any-ports takes free ones where none is given.`;
      case 'EACCES':
        return `needs administrator rights on this system, as ports below 1024 do on many; ${change}, 1024 or above.`;
      default:
        return `cannot be listened to: ${code}; ${change}.`;
    }
  }
}
