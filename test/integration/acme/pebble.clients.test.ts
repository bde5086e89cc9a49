import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { get } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { RuntimeFile } from '../../../main/base/config.ts';
import { challengeOf } from '../../support/acme/acme-client.ts';
import { createRemoteClient, textRecordOf } from '../../support/acme/acme-remote.ts';
import { createCsr } from '../../support/certificate-request.ts';
import { track } from '../../support/engine.ts';
import { freePort } from '../../support/ports.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { makeLeaf } from '../../bench/web-peers.ts';

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const PROGRAMS = join(import.meta.dirname, '..', '..', 'pebble');

test('the programs named pebble and pebble-challtestsrv run public suites for Pebble', async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const [dns, manage, web, listen, management] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const { key: privateKey, certificate } = makeLeaf('localhost', folder);
  const addresses = { listenAddress: `0.0.0.0:${listen}`, managementListenAddress: `0.0.0.0:${management}` };
  const config = { pebble: { ...addresses, certificate, privateKey, httpPort: web, tlsPort: 1 } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const env = { ...process.env, VIVARIUM_PEBBLE_DATA: dataDir, VIVARIUM_PEBBLE_SUFFIXES: 'le.wtf' };
  const start = (name: string, ...args: string[]): void => {
    const child = spawn(process.execPath, [join(PROGRAMS, name), ...args], { env, stdio: 'ignore' });
    track(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    });
  };
  start('challtestsrv.ts', '-management', `:${manage}`, '-dnsserver', `:${dns}`, '-http01', `:${web}`);
  start('pebble.ts', '-config', join(folder, 'config.json'));
  const types: Record<string, string | undefined> = {};
  const ask = (port: number, path: string) =>
    new Promise<string>((resolve) => {
      const options = { host: '127.0.0.1', servername: 'localhost', port, path, ca: readFileSync(certificate) };
      get({ ...options, agent: false }, (response) => {
        types[path] = response.headers['content-type'];
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => resolve(text));
      }).on('error', ({ message }) => resolve(message));
    });
  await expect.poll(() => ask(listen, '/dir')).toContain('/acme/new-nonce');
  // The second program answers once the root permits the suffix.
  const isManaged = () =>
    fetch(`http://127.0.0.1:${manage}/clear-request-history`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isManaged).toBe(true);
  await expect.poll(() => ask(management, '/set-renewal-info/')).toContain('nothing for this');
  const runtime = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  expect(await ask(management, '/roots/0')).toBe(readFileSync(runtime.caFile, 'utf8'));
  // Go's mime.ParseMediaType fails without a type, and with it eggsampler's suite.
  expect(types).toMatchObject({
    '/dir': 'application/json; charset=utf-8',
    '/roots/0': expect.stringContaining('pem'),
  });
  const tell = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${manage}${path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return text;
  };

  const client = createRemoteClient(runtime);
  track(() => client.close());
  await client.register();
  /** The final state of the authorization for a name after `prepare`. */
  const authorize = async (name: string, type: 'http-01' | 'dns-01', prepare: (host: string) => Promise<unknown>) => {
    const order = await client.order([name]);
    const [authorization] = await client.authorizations(order);
    if (authorization === undefined) return order.text;
    if (type === 'dns-01') {
      const { name: host, value } = await textRecordOf(client, authorization);
      await tell('/set-txt', { host: `${host}.`, value });
    } else {
      const { token } = challengeOf(authorization.json, type);
      await tell('/add-http01', { token, content: await client.keyAuthorization(token) });
    }
    await prepare(name);
    let [challenge = order] = await client.respond(order, type);
    // A busy server may answer before it has validated (RFC 8555 §7.5.1).
    const state = async (): Promise<unknown> => {
      if (challenge.json['status'] === 'processing') challenge = await client.post(String(challenge.json['url']));
      return challenge.json['status'];
    };
    await expect.poll(state).not.toBe('processing');
    const { error, status } = challenge.json as { status: string; error?: { type: string } };
    if (status === 'valid') await client.finalize(order, createCsr({ names: [name] }));
    return error?.type.split(':').at(-1) ?? status;
  };
  const ended = {
    http: await authorize('h.le.wtf', 'http-01', () => Promise.resolve()),
    dns: await authorize('d.le.wtf', 'dns-01', () => Promise.resolve()),
    // A name beside one that has records of its own.
    beside: await authorize('e.d.le.wtf', 'http-01', () => Promise.resolve()),
    servfail: await authorize('s.le.wtf', 'http-01', (host) => tell('/set-servfail', { host })),
    caa: await authorize('c.le.wtf', 'http-01', (host) =>
      tell('/add-caa', { host, policies: [{ tag: 'issue', value: 'ca.example' }] }),
    ),
  };
  expect(ended).toEqual({ http: 'valid', dns: 'valid', beside: 'valid', servfail: 'dns', caa: 'caa' });
  expect(JSON.parse(await tell('/http-request-history', { host: 'h.le.wtf' }))).toHaveLength(1);
});

test('a configuration without a management address will do, and a refused suffix ends all of the programs', async () => {
  const folder = temporaryFolder();
  const [dns, listen] = [await freePort(), await freePort()];
  const { key: privateKey, certificate } = makeLeaf('localhost', folder);
  const listenAddress = `0.0.0.0:${listen}`;
  const config = { pebble: { listenAddress, certificate, privateKey, httpPort: await freePort(), tlsPort: 1 } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const env = { ...process.env, VIVARIUM_PEBBLE_DATA: join(folder, 'data'), VIVARIUM_PEBBLE_SUFFIXES: 'le.wtf,a..b' };
  const run = async (name: string, ...args: string[]) => {
    const child = spawn(process.execPath, [join(PROGRAMS, name), ...args], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    track(() => void child.kill('SIGKILL'));
    const said = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, said: await said };
  };
  const management = `:${await freePort()}`;
  const engine = await run('challtestsrv.ts', '-management', management, '-dnsserver', `:${dns}`, '-http01', '');
  expect(engine).toEqual({ code: 1, said: expect.stringContaining('VIVARIUM_PEBBLE_SUFFIXES') });
  // In place of an engine, which `pebble` finds by its file, and whose end it notices by the file's.
  const control = createHttpServer((_request, response) => void response.end('{}')).listen(0, '127.0.0.1');
  track(() => void control.close());
  await once(control, 'listening');
  const url = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
  mkdirSync(join(folder, 'data'), { recursive: true });
  const file = join(folder, 'data', 'runtime.json');
  writeFileSync(file, JSON.stringify({ control: { url, token: 'x' } }));
  const pebble = run('pebble.ts', '-config', join(folder, 'config.json'));
  await expect.poll(() => accepts(listen), { timeout: 10_000 }).toBe(true);
  rmSync(file);
  expect(await pebble).toEqual({ code: 1, said: '' });
  const socket = createSocket('udp4');
  socket.bind(dns, '127.0.0.1');
  await once(socket, 'listening');
  socket.close();
});
