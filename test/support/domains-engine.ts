import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Domain } from '../../main/contract/domains.ts';
import { type Engine, startEngine } from './engine.ts';

const run = promisify(execFile);

/** A running engine with a Pro project that has been deployed and whose key requests have, and a zone. */
export interface DomainsEngine extends Engine {
  projectId: string;
  key: string;
  attach(hostname: string, more?: object): Promise<Domain>;
  put(name: string, type: string, value: string): Promise<{ id: string }>;
  verify(hostname: string): Promise<Domain>;
  get(hostname: string): Promise<Domain>;
  /** Attaches a hostname of the zone, adds its record, and verifies it. */
  serve(name: string): Promise<Domain>;
  /** Runs `curl` with the root as its only trust and the hostname resolved to the listener; its output or error. */
  curl(hostname: string, path?: string, ...args: string[]): Promise<string>;
}

export const ZONE = 'acme.test';
export const TARGET = 'cname.vivarium.localhost';

export const startDomainsEngine = async (): Promise<DomainsEngine> => deployPro(await startEngine({ empty: true }));

export async function deployPro(engine: Engine): Promise<DomainsEngine> {
  const { id: projectId } = await engine.call('projects.create', { name: 'Acme', plan: 'pro' });
  await engine.call('deploys.create', { projectId });
  const { secret } = await engine.call('keys.create', { projectId });
  await engine.call('zones.create', { name: ZONE });
  const { https, caFile } = engine.app.runtime;
  const attach = (hostname: string, more = {}) => engine.call('domains.attach', { projectId, hostname, ...more });
  const put = (name: string, type: string, value: string) =>
    engine.call('records.put', { zone: ZONE, name, type, value });
  const verify = (hostname: string) => engine.call('domains.verify', { hostname });
  return {
    ...engine,
    api: (request) => engine.api({ key: secret, ...request }),
    projectId,
    key: secret,
    attach,
    put,
    verify,
    get: (hostname) => engine.call('domains.get', { hostname }),
    async serve(name) {
      await attach(`${name}.${ZONE}`);
      await put(name, 'CNAME', TARGET);
      return verify(`${name}.${ZONE}`);
    },
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
