import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Domain } from '../../main/contract/domains.ts';
import { type Engine, startEngine } from './engine.ts';

const run = promisify(execFile);

/** A running engine with a Pro project that has been deployed, and a zone. */
export interface DomainsEngine extends Engine {
  projectId: string;
  key: string;
  put(name: string, type: string, value: string): Promise<{ id: string }>;
  verify(hostname: string): Promise<Domain>;
  get(hostname: string): Promise<Domain>;
  /** Runs `curl` with the root as its only trust and the hostname resolved to the listener; its output or error. */
  curl(hostname: string, path?: string, ...args: string[]): Promise<string>;
}

export const ZONE = 'acme.test';
export const TARGET = 'cname.vivarium.localhost';

export async function startDomainsEngine(): Promise<DomainsEngine> {
  const engine = await startEngine({ empty: true });
  const { id: projectId } = (await engine.call('projects.create', { name: 'Acme', plan: 'pro' })) as { id: string };
  await engine.call('deploys.create', { projectId });
  const { secret } = (await engine.call('keys.create', { projectId })) as { secret: string };
  await engine.call('zones.create', { name: ZONE });
  const { https, caFile } = engine.app.runtime;
  return {
    ...engine,
    projectId,
    key: secret,
    put: (name, type, value) =>
      engine.call('records.put', { zone: ZONE, name, type, value }) as Promise<{ id: string }>,
    verify: (hostname) => engine.call('domains.verify', { hostname }) as Promise<Domain>,
    get: (hostname) => engine.call('domains.get', { hostname }) as Promise<Domain>,
    async curl(hostname, path = '/v1/pets', ...args) {
      const url = `https://${hostname}:${https.port}${path}`;
      const resolve = `${hostname}:${https.port}:127.0.0.1`;
      const options = ['-sS', '--cacert', caFile, '--resolve', resolve, '-H', `Authorization: Bearer ${secret}`];
      try {
        return (await run('curl', [...options, ...args, url])).stdout;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}
