import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { test } from 'vitest';
import type { Config } from '../../main/base/config.ts';
import { type ApiRequest, type Engine, launchEngine, startEngine } from './engine.ts';
import { execute } from './command.ts';

/**
 * `it` with one engine for a file of tests. Each test gets the world that `prepare` made, no recorded requests and no
 * log lines, which takes a seventh of a start; roots, trust and the files of the data folder stay as they are.
 */
export const engineTest = <Prepared extends Engine>(
  options: Partial<Config>,
  prepare: (engine: Engine) => Promise<Prepared>,
) =>
  test
    // oxlint-disable-next-line no-empty-pattern -- Vitest reads the used fixtures from the pattern.
    .extend('started', { scope: 'file' }, async ({}, { onCleanup }) => {
      // The folder of the test that comes first is removed after it.
      const folder = mkdtempSync(join(process.env.TEST_WORKER_TMPDIR ?? tmpdir(), 'engine-'));
      const [dataDir, machineRoot] = [join(folder, 'data'), join(folder, 'machine')];
      const engine = await launchEngine({ dataDir, ...options }, { machineRoot });
      onCleanup(async () => {
        await engine.stop();
        rmSync(folder, { recursive: true, force: true });
      });
      const prepared = await prepare(engine);
      await engine.call('snapshots.save', { name: 'begin' });
      return prepared;
    })
    .extend('engine', async ({ started }) => {
      await started.call('snapshots.restore', { name: 'begin' });
      await started.call('traffic.clear');
      started.log.length = 0;
      return started;
    })
    .extend('call', ({ engine }): Engine['call'] => engine.call)
    .extend('api', ({ engine }): Engine['api'] => engine.api);

/** With the demo, whose project `projectId` is. */
export const demoTest = engineTest({}, (engine) => Promise.resolve(engine)).extend(
  'projectId',
  async ({ engine }) => (await engine.demo()).id,
);

/** Without the demo. */
export const emptyTest = engineTest({ empty: true }, (engine) => Promise.resolve(engine));

export const ZONE = 'acme.test';
export const TARGET = 'cname.vivarium.localhost';

/** Of a verified domain. */
export const ISSUED = { state: 'verified', certificate: { state: 'issued' } };
export const pending = (reason: string) => ({ state: 'verified', certificate: { state: 'pending', reason } });

export const startDomainsEngine = async () => deployPro(await startEngine({ empty: true }));

export type DomainsEngine = Awaited<ReturnType<typeof deployPro>>;

/** Adds a Pro project that has been deployed, its key, which requests have from now on, and a zone. */
async function deployPro(engine: Engine) {
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
    api: (request: ApiRequest = {}) => engine.api({ key: secret, ...request }),
    projectId,
    key: secret,
    attach,
    put,
    verify,
    get: (hostname: string) => engine.call('domains.get', { hostname }),
    /** Attaches a hostname of the zone, adds its record, and verifies it. */
    async serve(name: string) {
      await attach(`${name}.${ZONE}`);
      await put(name, 'CNAME', TARGET);
      return verify(`${name}.${ZONE}`);
    },
    /** Runs `curl` with the root as its only trust and the hostname resolved to the listener; its output or error. */
    async curl(hostname: string, path = '/v1/pets', ...args: string[]) {
      const url = `https://${hostname}:${https.port}${path}`;
      const resolve = `${hostname}:${https.port}:127.0.0.1`;
      const options = ['-sS', '--cacert', caFile, '--resolve', resolve, '-H', `Authorization: Bearer ${secret}`];
      try {
        return (await execute('curl', [...options, ...args, url])).stdout;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

export const domainsTest = engineTest({ empty: true }, deployPro)
  .extend('projectId', ({ engine }) => engine.projectId)
  .extend('attach', ({ engine }) => engine.attach)
  .extend('put', ({ engine }) => engine.put)
  .extend('verify', ({ engine }) => engine.verify)
  .extend('get', ({ engine }) => engine.get)
  .extend('serve', ({ engine }) => engine.serve)
  .extend('curl', ({ engine }) => engine.curl);

/** What `read` returns of a TLS connection whose client trusts the root; fails if either side refuses the other. */
export const overTls = <Result>(
  { app: { runtime } }: Engine,
  options: ConnectionOptions,
  read: (socket: TLSSocket) => Result,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const place = { host: '127.0.0.1', port: runtime.https.port, ca: readFileSync(runtime.caFile) };
    const socket = connect({ ...place, ...options }, () => {
      resolve(read(socket));
      socket.destroy();
    });
    socket.once('error', reject);
  });

/** The status of a GET over HTTP/2 on a new connection. */
export function statusOverHttp2({ app }: Engine, hostname: string, path: string, headers = {}): Promise<number> {
  const { https, caFile } = app.runtime;
  const session = connectHttp2(`https://127.0.0.1:${https.port}`, { servername: hostname, ca: readFileSync(caFile) });
  return new Promise<number>((resolve, reject) => {
    session.on('error', reject);
    // The session's error says why.
    const stream = session.request({ ':authority': hostname, ':path': path, ...headers }).on('error', () => undefined);
    stream.on('response', ({ ':status': status = 0 }) => resolve(status)).resume();
  }).finally(() => session.destroy());
}
