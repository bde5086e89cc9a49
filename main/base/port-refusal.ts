import { VivariumError } from '../contract/errors.ts';
import { codeOf } from './error-code.ts';
import { describePortHolder, type Transport } from './port-holder.ts';

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
