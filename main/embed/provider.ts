import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { VivariumError } from '../contract/errors.ts';
import type { Client } from './client.ts';
import type { ProviderConnection } from './types.ts';

/** Hosts of providers, which lead to the engine for as long as it lives: never to the real ones, not even later. */
export type ReservedHosts = Map<string, { proxyUrl: string; ca: string }>;

/** Opens a provider's API in front of projects. */
export async function openProvider(
  { providers }: Pick<Client, 'providers'>,
  reserved: ReservedHosts,
  input: Parameters<Client['providers']['connect']>[0],
): Promise<ProviderConnection> {
  const { id, token, baseUrl, env, hosts, proxyUrl, caFile } = await providers.connect(input);
  const ca = readFileSync(caFile, 'utf8');
  for (const host of hosts) reserved.set(host, { proxyUrl, ca });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= providers.disconnect({ id }).then(() => undefined));
  return { id, token, baseUrl, env, close, [Symbol.asyncDispose]: close };
}

/** The engine answers within milliseconds. */
const TUNNEL_MS_MAX = 5_000;

/** A connection to a provider's host, by the engine's proxy. @throws Error if the engine refuses it */
export function openTunnel(proxyUrl: string, hostname: string): Promise<Socket> {
  const { port, username, password } = new URL(proxyUrl);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const path = `${hostname}:443`;
  const headers = { host: path, 'proxy-authorization': `Basic ${credentials}` };
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, method: 'CONNECT', path, headers, timeout: TUNNEL_MS_MAX });
    asking.once('connect', ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      const message = `The connection to ${hostname} was closed (${statusCode}); vivarium.provider() opens another.`;
      reject(new VivariumError('unavailable', message));
    });
    asking.once('timeout', () => asking.destroy(new Error('Vivarium does not answer')));
    asking.once('error', reject);
    asking.end();
  });
}
