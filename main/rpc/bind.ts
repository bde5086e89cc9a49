import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LOOPBACK_ADDRESSES } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';

/** "Any free port" must be free on both addresses; this many draws fail together only when hardly any port is free. */
const FREE_PORT_ATTEMPTS_MAX = 20;

/** What a system without IPv6, or with it switched off on loopback, answers with. */
const MISSING_ADDRESS_CODES = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

export interface Bound {
  port: number;
  /** False when the system has no IPv6 loopback address. */
  ipv6: boolean;
}

/**
 * Makes `ipv4` listen on 127.0.0.1 and `ipv6` on ::1, on one port number; 0 stands for any free one.
 * @param option the option that changes the port, for the message.
 * @throws VivariumError `conflict` when the port is taken on either address, `forbidden` when this user may not have it.
 */
export async function bindLoopback(ipv4: Server, ipv6: Server, wanted: number, option: string): Promise<Bound> {
  for (let attempt = 1; ; attempt++) {
    try {
      const port = await listen(ipv4, wanted, LOOPBACK_ADDRESSES[0]);
      return { port, ipv6: await listenWherePresent(ipv6, port, ipv4) };
    } catch (error) {
      const isTaken = codeOf(error) === 'EADDRINUSE';
      if (isTaken && wanted === 0 && attempt < FREE_PORT_ATTEMPTS_MAX) continue;
      throw explain(error, wanted, option);
    }
  }
}

async function listenWherePresent(ipv6: Server, port: number, ipv4: Server): Promise<boolean> {
  try {
    await listen(ipv6, port, LOOPBACK_ADDRESSES[1]);
    return true;
  } catch (error) {
    if (MISSING_ADDRESS_CODES.includes(codeOf(error))) return false;
    await new Promise((resolve) => ipv4.close(resolve));
    throw error;
  }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: true, exclusive: true }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

function explain(error: unknown, port: number, option: string): unknown {
  const change = `Choose another port with ${option} (0 = any free one).`;
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new VivariumError('conflict', `Port ${port} is taken. ${change}`, { cause: error });
    case 'EACCES':
      return new VivariumError('forbidden', `Port ${port} may not be opened by this user. ${change}`, { cause: error });
    default:
      return error;
  }
}
