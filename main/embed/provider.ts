import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { askTunnel, basic } from '../children/ways.ts';
import { unavailable } from '../contract/errors.ts';
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
export async function openTunnel(proxyUrl: string, host: string): Promise<Socket> {
  const { port, username, password } = new URL(proxyUrl);
  const place = { scheme: 'https', host, port: 443 } as const;
  const engine = connect(Number(port), '127.0.0.1');
  const way = await askTunnel(engine, place, basic(`${username}:${password}`), TUNNEL_MS_MAX);
  if (typeof way !== 'number') return way;
  const message = `The connection to ${host} was closed (${way}); vivarium.provider() opens another.`;
  throw unavailable(message);
}
