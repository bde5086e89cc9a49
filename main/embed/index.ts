import { readFileSync } from 'node:fs';
import { isNodeNewEnough, NODE_WANTED } from '../cli/node-version.mjs';
import { VivariumError } from '../contract/errors.ts';
import { makeCalls, type Client } from './client.ts';
import { startEngine } from './engines.ts';
import { makeFetch } from './fetch.ts';
import { startBreak, openTenant } from './disposable.ts';
import type { StartOptions, Vivarium } from './types.ts';

export type { Break, BreakOptions, StartOptions, Tenant, TenantOptions, Vivarium } from './types.ts';

const SNAPSHOT = 'snapshot';

/**
 * Starts a Vivarium in this process, on free ports and in memory. It keeps the process alive only while a call is
 * in progress: a test that fails before `close` leaves nothing behind.
 */
export async function startVivarium({ demo = false, clock }: StartOptions = {}): Promise<Vivarium> {
  if (!isNodeNewEnough()) throw new VivariumError('unavailable', NODE_WANTED);
  const engine = await startEngine({ empty: !demo });
  const { runtime } = engine;
  const client = makeCalls(engine) as unknown as Client;
  const { fetch, close: closeConnections } = makeFetch(runtime);
  let closing: Promise<void> | null = null;
  const close = () => (closing ??= Promise.all([closeConnections(), engine.stop()]).then(() => undefined));
  try {
    if (clock !== undefined) {
      await client.clock.freeze();
      await client.clock.set({ to: clock });
    }
  } catch (error) {
    await close();
    throw error;
  }
  let tenants = 0;
  return {
    ...client,
    ca: Object.defineProperty({ ...client.ca, file: runtime.caFile, pem: '' }, 'pem', {
      get: () => readFileSync(runtime.caFile, 'utf8'),
    }),
    ports: {
      http: runtime.http.port,
      https: runtime.https.port,
      dns: runtime.dns.port,
      control: Number(new URL(runtime.control.url).port),
    },
    proxyUrl: runtime.proxy.url,
    env: engine.env,
    url: (hostname) => `https://${hostname}:${runtime.https.port}`,
    fetch,
    snapshot: async (name = SNAPSHOT) => void (await client.snapshots.save({ name, force: true })),
    restore: async (name = SNAPSHOT) => void (await client.snapshots.restore({ name })),
    break: (entry, options = {}) => startBreak(client, { ...options, entry }),
    tenant: (options = {}) => openTenant(`Tenant ${++tenants}`, client, fetch, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}
