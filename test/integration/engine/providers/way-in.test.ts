import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { writeHeapSnapshot } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { hashSecret } from '../../../../main/base/secret.ts';
import { emptyDataFolder } from '../../../../main/base/system/data-folder.ts';
import { type ProviderId, PROVIDERS } from '../../../../main/contract/provider-table.ts';
import { CONNECTIONS_MAX } from '../../../../main/contract/providers.ts';
import { READ_MS } from '../../../../main/manners/attempts.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { runHere } from '../../../support/cli-io.ts';
import { readUntil, sendRaw } from '../../../support/proxy/proxy-raw.ts';
import { type Connected, startProviderEngine } from '../../../support/providers/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { execute as run } from '../../../support/command.ts';

const it = test.extend('engine', () => startProviderEngine());

const HOST = 'api.vercel.com';
const WWW = 'www.acme.test';

const openProvider = (engine: Engine, projectId = 'shop', pid?: number) =>
  engine.call('providers.connect', { provider: 'vercel', projectId, pid });

const credentials = ({ proxyUrl }: Connected): string => {
  const { username, password } = new URL(proxyUrl);
  return `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`;
};

const connectLine = (authority: string, field: string): string =>
  `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${field}\r\n`;

/** The error of a TLS handshake, or the subject of the certificate. */
async function handshake(port: number, servername: string, first = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  if (first !== '') {
    socket.write(first);
    if (!(await readUntil(socket, /\r\n\r\n/)).startsWith('HTTP/1.1 200')) return 'no tunnel';
  }
  const secure = connectTls({ socket, servername, rejectUnauthorized: false });
  try {
    await once(secure, 'secureConnect');
    return secure.getPeerCertificate().subjectaltname ?? 'no name';
  } catch (error) {
    return String((error as { code?: string }).code);
  } finally {
    secure.destroy();
  }
}

/** Names that no certificate is shown for. */
const FOREIGN = [
  ...['vercel.com', 'www.vercel.com', 'x.api.vercel.com', 'api.vercel.com.evil.test', 'apivercel.com', 'api.vercel.co'],
  ...['api.cloudflare.com', 'api.netlify.com', 'api.fly.io', 'api.github.com', 'google.com', 'www.google.com'],
  ...['gitlab.com', 'example.com', 'localhost', 'demo.vivarium.localhost', 'vivarium.localhost'],
  ...['vercel.api.vivarium.localhost', 'shop.vivarium.localhost', '*.vercel.com', 'api.vercel.com:443', 'com'],
  ...['xn--api-vercel.com', 'api-vercel.com', 'a.b.c.api.vercel.com'],
];

describe('a connection to a provider', () => {
  it('shows a certificate for its hosts only, and only with its token', async ({ engine }) => {
    const connected = await engine.connect('vercel', 'shop');
    const { http, https } = engine.app.runtime;
    const tunnel = connectLine(`${HOST}:443`, credentials(connected));
    expect(await handshake(http.port, HOST, tunnel)).toBe(`DNS:${HOST}`);
    expect(FOREIGN).toHaveLength(25);
    for (const name of FOREIGN) expect(await handshake(http.port, name, tunnel), name).toMatch(/^(?:ERR_SSL|ECONN)/);
    expect(await handshake(https.port, HOST)).toMatch(/^ERR_SSL/);
    expect(await handshake(http.port, HOST, connectLine(`${HOST}:443`, ''))).toBe('no tunnel');
  });

  it('needs its token before the target is read, and leads nowhere else with it', async ({ engine }) => {
    const connected = await engine.connect('vercel', 'shop');
    const { port } = engine.app.runtime.http;
    const wrong = `Proxy-Authorization: Basic ${Buffer.from('provider:wrong').toString('base64')}\r\n`;
    const ask = async (authority: string, field: string) => (await sendRaw(port, connectLine(authority, field))).status;
    expect(await ask(`${HOST}:443`, wrong)).toBe(407);
    expect(await ask('notarget', wrong)).toBe(407);
    expect(await ask('www.google.com:443', credentials(connected))).toBe(403);
    expect(await ask(`${HOST}:80`, credentials(connected))).toBe(403);
    expect(await ask('127.0.0.1:443', credentials(connected))).toBe(403);
    await engine.call('providers.disconnect', { id: connected.id });
    expect(await ask(`${HOST}:443`, credentials(connected))).toBe(407);
  });

  it('ends at once: open connections are cut, the token is refused, and its root is gone', async ({ engine }) => {
    const connected = await engine.connect('vercel', 'shop');
    const socket = connect(engine.app.runtime.http.port, '127.0.0.1');
    socket.write(connectLine(`${HOST}:443`, credentials(connected)));
    await readUntil(socket, /\r\n\r\n/);
    expect(existsSync(connected.caFile)).toBe(true);
    const closed = once(socket.resume(), 'close');
    await engine.call('providers.disconnect', { id: connected.id });
    await closed;
    expect(existsSync(connected.caFile)).toBe(false);
    await expect(engine.call('providers.disconnect', { id: connected.id })).rejects.toThrow('There is no connection');
  });

  it('of a run ends with its process', async ({ engine }) => {
    const child = spawn('sleep', ['60']);
    const abort = new AbortController();
    const stream = await engine.app.services.runs.hold(
      { name: 'Shop', wildcard: false, pid: child.pid ?? 0, folder: '/', command: 'sleep' },
      { signal: abort.signal },
    );
    await stream.next();
    await engine.call('providers.connect', { provider: 'vercel', projectId: 'shop', pid: child.pid });
    child.kill('SIGKILL');
    abort.abort();
    await stream.next();
    const [vercel] = await engine.call('providers.list');
    expect(vercel?.connections).toEqual([]);
    expect(readdirSync(join(engine.dataDir, 'providers'))).toEqual([]);
  });

  it('leads a program to its host whatever NO_PROXY covers in its shell', async ({ engine }) => {
    const { env, token } = await engine.connect('vercel', 'shop');
    const ask = ['-sS', '--resolve', `${HOST}:443:127.0.0.1`, '-H', `Authorization: Bearer ${token}`];
    const shell = { ...process.env, NO_PROXY: '*', no_proxy: HOST };
    const { stdout } = await run('curl', [...ask, `https://${HOST}/v5/domains`], { env: { ...shell, ...env } });
    expect(JSON.parse(stdout)).toMatchObject({ domains: [] });
  });

  it('is in the list of the command line, with the id by which it is closed', async ({ engine }) => {
    const { id } = await engine.connect('vercel', 'shop');
    const listed = await runHere(['provider', 'list', '--data-dir', engine.dataDir]);
    expect(listed.stdout).toContain(id);
    const fly = (await engine.call('providers.list')).find(({ provider }) => provider === 'fly');
    expect(fly?.operations).toEqual({ emulated: 5, driven: 5, total: 8 });
    const closed = await runHere(['provider', 'disconnect', id, '--data-dir', engine.dataDir]);
    expect(closed.stdout).toContain(`Closed ${id}.`);
  });

  it('makes room for others when its projects were removed', async ({ engine }) => {
    const kept = await engine.connect('vercel', 'shop', ['blog']);
    for (let count = 1; count < CONNECTIONS_MAX; count++) await openProvider(engine, 'rival');
    await expect(openProvider(engine, 'shop')).rejects.toThrow('connections to providers already');
    await engine.call('projects.remove', { projectId: 'rival' });
    await engine.call('projects.remove', { projectId: 'blog' });
    const opened = await openProvider(engine, 'shop');
    const [vercel] = await engine.call('providers.list');
    expect(vercel?.connections.map(({ id }) => id)).toEqual([kept.id, opened.id]);
  });

  it('says which port its host has', async ({ engine }) => {
    const field = credentials(await engine.connect('vercel', 'shop'));
    const { text } = await sendRaw(engine.app.runtime.http.port, connectLine(`${HOST}:22`, field));
    expect(text).toContain(`${HOST} is simulated here, and answers over HTTPS at port 443 only.`);
  });

  it('says with which command a token is made, for this data folder', async ({ engine }) => {
    const { fetch } = await engine.connect('vercel', 'shop');
    const refused = await fetch(`https://${HOST}/v5/domains`, { headers: { authorization: 'Bearer other' } });
    const { error } = (await refused.json()) as { error: { message: string } };
    expect(error.message).toContain(`provider env vercel --data-dir ${engine.dataDir}`);
  });

  it('has rate headers in real time, wherever the app’s clock is', async ({ engine }) => {
    const { fetch, token } = await engine.connect('vercel', 'shop');
    await engine.call('clock.advance', { by: 'P1D' });
    const { headers } = await fetch(`https://${HOST}/v5/domains`, { headers: { authorization: `Bearer ${token}` } });
    expect(Number(headers.get('x-ratelimit-reset')) - Date.now() / 1_000).toBeLessThan(3_700);
  });

  it('reaches only the projects of its account', async ({ engine }) => {
    const { fetch, token } = await engine.connect('vercel', 'shop');
    const headers = { authorization: `Bearer ${token}` };
    const status = async (project: string) =>
      (await fetch(`https://${HOST}/v9/projects/${project}/domains`, { headers })).status;
    expect([await status('shop'), await status('blog'), await status('rival')]).toEqual([200, 404, 404]);
  });
});

it.for<[provider: ProviderId, ...paths: string[]]>([
  ['vercel', '/v9/projects/PROJECT/domains/NAME', '/v6/domains/NAME/config?projectIdOrName=PROJECT'],
  ['cloudflare', '/client/v4/zones/ZONE/custom_hostnames?hostname=NAME'],
  ['netlify', '/api/v1/sites/PROJECT', '/api/v1/sites/PROJECT/ssl/certificates?domain=NAME'],
  ['fly', '/v1/apps/shop/certificates/NAME'],
  ['render', '/v1/services/SERVICE/custom-domains/NAME'],
])('`ask` has what %s answers an app, without a token', async ([provider, ...paths], { engine }) => {
  const { fetch, token, projectId, env } = await engine.connect(provider, 'shop');
  await engine.call('projects.update', { projectId: 'shop', plan: 'pro' });
  await engine.call('deploys.create', { projectId: 'shop' });
  await engine.call('domains.attach', { projectId: 'shop', hostname: WWW });
  const calls = paths.map((path) =>
    path
      .replaceAll('PROJECT', projectId)
      .replace('NAME', WWW)
      .replace('ZONE', env['CLOUDFLARE_ZONE_ID'] ?? '')
      .replace('SERVICE', env['RENDER_SERVICE_ID'] ?? ''),
  );
  const answers = calls.map(async (path) => {
    const answer = await fetch(`https://${PROVIDERS[provider].hosts[0]}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { call: `GET ${path}`, status: answer.status, body: await answer.json() };
  });
  const asked = await engine.call('providers.ask', { hostname: WWW });
  expect(asked).toEqual({ provider, answers: await Promise.all(answers) });
  expect(await engine.call('providers.ask', { hostname: WWW, provider: 'vercel' })).toMatchObject({
    answers: [{ status: 200 }, { status: 200 }],
  });
  await engine.call('projects.update', { projectId: 'shop', persona: 'github-pages' });
  await expect(engine.call('providers.ask', { hostname: WWW })).rejects.toThrow('follows the rules of no provider');
});

it('a project may have the hostname of a provider’s API itself, and gets what its clients send', async ({ engine }) => {
  await engine.call('projects.update', { projectId: 'shop', plan: 'pro' });
  await engine.call('deploys.create', { projectId: 'shop' });
  const { secret } = await engine.call('keys.create', { projectId: 'shop' });
  await engine.call('domains.attach', { projectId: 'shop', hostname: HOST });
  await engine.put('vercel.com', 'api', 'CNAME', 'cname.vivarium.localhost');
  expect(await engine.call('domains.verify', { hostname: HOST })).toMatchObject({ serving: { http: true } });
  const proxy = `http://127.0.0.1:${engine.app.runtime.http.port}`;
  const ask = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '-H', `Authorization: Bearer ${secret}`];
  for (const reached of [
    ['--proxy', proxy],
    ['--connect-to', `::127.0.0.1:${new URL(proxy).port}`],
  ])
    expect((await run('curl', [...ask, ...reached, `http://${HOST}/v1/pets`])).stdout).toBe('200');
});

it('without a run, it outlasts a restart with new certificates, and is in no snapshot, backup or export', async () => {
  const dataDir = temporaryFolder();
  const first = await startEngine({ empty: true, dataDir });
  await first.call('projects.create', { name: 'Shop' });
  const { token, caFile } = await openProvider(first);
  await openProvider(first, 'shop', process.pid);
  const root = readFileSync(caFile, 'utf8');
  const elsewhere = temporaryFolder();
  await first.call('backup.create', { file: join(elsewhere, 'backup.db') });
  await first.call('snapshots.save', { name: 'kept' });
  await first.call('snapshots.save', { name: 'given', file: join(elsewhere, 'given.db') });
  writeFileSync(join(elsewhere, 'export.json'), JSON.stringify(await first.call('world.export')));
  const secrets = join(temporaryFolder(), 'secrets');
  writeFileSync(secrets, `${token}\n${hashSecret(token)}\n`);
  const search = (place: string) => run('/bin/sh', ['-c', `grep -rlaf '${secrets}' '${place}' || true`]);
  expect((await search(elsewhere)).stdout).toBe('');
  expect((await search(dataDir)).stdout.trim()).toBe(join(dataDir, 'provider-connections.json'));
  await first.stop();
  expect(existsSync(caFile)).toBe(false);
  const second = await startEngine({ empty: true, dataDir });
  const kept = await second.call('providers.list');
  expect(kept.filter(({ connections }) => connections.length > 0)).toMatchObject([
    { provider: 'vercel', connections: [{ projectIds: [expect.any(String)] }] },
  ]);
  expect(readFileSync(caFile, 'utf8')).not.toBe(root);
  const proxyUrl = `http://provider:${token}@127.0.0.1:${second.app.runtime.http.port}`;
  const options = ['-sS', '--proxy', proxyUrl, '--cacert', caFile, '-H', `Authorization: Bearer ${token}`];
  const { stdout } = await run('curl', [...options, `https://${HOST}/v5/domains`]);
  expect(JSON.parse(stdout)).toMatchObject({ domains: [] });
  await second.stop();
  emptyDataFolder(dataDir);
  expect(readdirSync(dataDir)).toEqual(['vivarium.lock']);
});

it('breaks, Traffic and manners know the calls, and clients with a base URL reach the same API', async ({ engine }) => {
  const connected = await engine.connect('vercel', 'shop');
  const headers = { authorization: `Bearer ${connected.token}` };
  const get = (path: string) => connected.fetch(`https://${HOST}${path}`, { headers });
  await engine.call('breaks.start', {
    entry: 'http.status',
    on: { hostname: HOST },
    first: 1,
    parameters: { status: 503, header: 'Retry-After: 1' },
  });
  expect((await get('/v5/domains')).status).toBe(503);
  // Only a request that begins long enough after the recorded end of the answer can be a reaction to it.
  const msSinceEnd = async () => {
    const { items } = await engine.call('traffic.list', { projectId: 'shop' });
    return Math.max(...items.map(({ at, durationMs }) => Date.now() - Date.parse(at) - durationMs));
  };
  await expect.poll(msSinceEnd).toBeGreaterThan(READ_MS);
  expect((await get('/v5/domains')).status).toBe(200);
  for (let count = 0; count < 8; count++) await get('/v5/domains');
  const { items } = await engine.call('traffic.list', { projectId: 'shop' });
  expect(items[0]).toMatchObject({ project: 'shop', provider: 'vercel', answeredBy: 'provider', keyId: connected.id });
  expect(items.at(-1)).toMatchObject({ fault: { entry: 'http.status' } });
  expect(await engine.call('manners.report', { projectId: 'shop' })).toMatchObject({
    callers: [
      {
        rules: expect.arrayContaining([expect.objectContaining({ rule: 'waits-for-retry-after', verdict: 'broken' })]),
      },
    ],
  });
  const { hostname, port } = new URL(connected.baseUrl);
  const options = ['-sS', '--cacert', connected.caFile, '--resolve', `${hostname}:${port}:127.0.0.1`];
  const { stdout } = await run('curl', [
    ...options,
    '-H',
    `Authorization: Bearer ${connected.token}`,
    `${connected.baseUrl}/v5/domains`,
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ domains: [] });
});

/** Sets a variable of Railway’s, which is not emulated. */
const UPSERT = 'mutation ($input: VariableUpsertInput!) { variableUpsert(input: $input) }';

it('a foreign credential is nowhere: not in memory, traffic, archives, snapshots, backups or the log', async () => {
  const engine = await startProviderEngine();
  const { token, ...vercel } = await engine.connect('vercel', 'shop');
  const [cloudflare, netlify, fly, render, railway] = (await Promise.all(
    ['cloudflare', 'netlify', 'fly', 'render', 'railway'].map((provider) => engine.connect(provider, 'shop')),
  )) as [Connected, Connected, Connected, Connected, Connected];
  // Made by another process, so that this one, which is also the engine’s, has it from the network only.
  const folder = temporaryFolder();
  const marker = join(folder, 'marker');
  await run('/bin/sh', ['-c', `od -An -tx1 -N20 /dev/urandom | tr -d ' \\n' > '${marker}'`]);
  const secret = `$(cat '${marker}')`;
  /** Sends a request by curl, in whose words MARK is the marker; the status of the answer. */
  async function send({ proxyUrl, caFile }: Pick<Connected, 'proxyUrl' | 'caFile'>, ...words: readonly string[]) {
    const options = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--proxy', proxyUrl, '--cacert', caFile, ...words];
    const line = options.map((word) => `"${word.replaceAll('MARK', secret)}"`).join(' ');
    return Number((await run('/bin/sh', ['-c', `curl ${line}`])).stdout);
  }
  const api = `https://${HOST}/v5/domains`;
  const zones = 'https://api.cloudflare.com/client/v4/zones';
  const own = ['-H', `Authorization: Bearer ${token}`];
  const by = (connected: Connected) => ['-H', `Authorization: Bearer ${connected.token}`];
  const sites = 'https://api.netlify.com/api/v1/sites';
  const apps = 'https://api.machines.dev/v1/apps/shop';
  const services = 'https://api.render.com/v1/services';
  const service = `${services}/${render.env['RENDER_SERVICE_ID']}`;
  const ownKey = `${zones}/${cloudflare.env['CLOUDFLARE_ZONE_ID']}/custom_hostnames`;
  const graphql = 'https://backboard.railway.com/graphql/v2';
  const bearer = ['-H', 'Authorization: Bearer MARK'];
  const many = Array.from({ length: 120 }, (_, index) => ['-H', `X-${index}: 1`]).flat();
  const host = (name: string) => ['-H', `Host: ${name}`];
  const json = (body: object) => [
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify(body).replaceAll(/["\\$]/g, String.raw`\$&`),
  ];
  const byUrl = new URL(vercel.baseUrl);
  const other = `cloudflare.${byUrl.host.slice('vercel.'.length)}`;
  const local = `http://localhost:${engine.app.runtime.http.port}/v5/domains`;
  const direct = ['--noproxy', '*', '--resolve', `*:${byUrl.port}:127.0.0.1`];
  const cases: readonly [status: number, connected: Pick<Connected, 'proxyUrl' | 'caFile'>, ...words: string[]][] = [
    [403, vercel, api, ...bearer],
    [403, vercel, api, '-H', 'Authorization: Bearer vcp_MARK'],
    [403, vercel, api, '-H', 'Cookie: authorization=MARK'],
    [403, vercel, `http://${HOST}/v5/domains`, ...bearer],
    [403, cloudflare, zones, ...bearer],
    [403, cloudflare, zones, '-H', 'X-Auth-Key: MARK'],
    [403, cloudflare, zones, '-H', 'X-Auth-User-Service-Key: v1.0-MARK'],
    // In places that this provider does not name, beside our own token.
    [200, vercel, api, ...own, '-H', 'X-Auth-Key: MARK', '-H', 'X-Whatever: MARK', '-b', 'session=MARK'],
    [200, vercel, `${api}?token=MARK&limit=5`, ...own, '-H', 'Proxy-Authorization: Basic MARK'],
    [200, vercel, `${api}?access_token=MARK`, ...own, '--http2', '-b', 'one=MARK; two=MARK'],
    [401, netlify, sites, '-H', 'Authorization: Bearer nfp_MARK'],
    [401, netlify, `${sites}?access_token=MARK`],
    [200, netlify, `${sites}?access_token=MARK`, ...by(netlify), '-b', '_nf-auth=MARK'],
    [501, netlify, `${sites}/shop/ssl?certificate=PEM&key=MARK&ca_certificates=PEM`, ...by(netlify), '-X', 'POST'],
    [401, fly, `${apps}/certificates`, '-H', 'Authorization: FlyV1 fm2_MARK,fo1_MARK'],
    [200, fly, `${apps}/certificates`, ...by(fly), '-b', 'fly=MARK'],
    [401, render, services, '-H', 'Authorization: Bearer rnd_MARK'],
    [200, render, `${service}/custom-domains`, ...by(render), '-b', 'render=MARK'],
    [200, railway, graphql, '-H', 'Project-Access-Token: MARK', ...json({ query: '{ me { id } }' })],
    [200, railway, graphql, ...by(railway), '-b', 'rw.session=MARK', ...json({ query: '{ __typename }' })],
    // Answered before it is known who calls.
    [400, vercel, api, ...bearer, '--http1.1', '--request-target', '/v5/domains?token=MARK#key=MARK'],
    [404, vercel, api, ...bearer, '--http1.1', ...host('demo.vivarium.localhost')],
    [414, vercel, `${api}?${'a'.repeat(9_000)}`, ...bearer],
    [431, vercel, api, ...bearer, '--http1.1', ...many],
    [421, vercel, `${vercel.baseUrl}/v5/domains`, ...direct, ...bearer, '--http1.1', ...host(other)],
    [400, vercel, `http://${byUrl.host}/v5/domains`, ...direct, ...bearer],
    [404, vercel, local, ...direct, '-H', 'Authorization: Basic MARK', ...host('API.Vercel.com.')],
    // Bodies of what is not emulated, or not for this caller.
    [501, vercel, `https://${HOST}/v10/projects/shop/env`, ...own, ...json({ key: 'STRIPE', value: 'MARK' })],
    [501, vercel, `https://${HOST}/v8/certs`, ...own, '-X', 'PUT', ...json({ ca: '', key: 'MARK' })],
    [403, vercel, `https://${HOST}/v10/projects/shop/env`, ...bearer, ...json({ key: 'STRIPE', value: 'MARK' })],
    [501, netlify, 'https://api.netlify.com/api/v1/accounts/shop/env', ...by(netlify), ...json({ value: 'MARK' })],
    [501, fly, `${apps}/certificates/custom`, ...by(fly), ...json({ hostname: 'acme.test', private_key: 'MARK' })],
    [501, render, `${service}/env-vars/STRIPE`, ...by(render), '-X', 'PUT', ...json({ value: 'MARK' })],
    // Only the body says that these are not emulated.
    [501, cloudflare, ownKey, ...by(cloudflare), ...json({ hostname: 'acme.test', ssl: { custom_key: 'MARK' } })],
    [501, railway, graphql, ...by(railway), ...json({ query: UPSERT, variables: { input: { value: 'MARK' } } })],
    [501, railway, graphql, ...by(railway), ...json({ query: UPSERT.replace(': $input)', ': {value: "MARK"})') })],
    [400, railway, graphql, ...by(railway), ...json({ query: '{ domains(secret: "MARK") { id } }' })],
    [400, railway, graphql, ...by(railway), ...json({ query: '{ domains(', variables: { value: 'MARK' } })],
    // Its error would repeat the document.
    [400, railway, graphql, ...by(railway), ...json({ query: '{ domains( rnd_MARK' })],
    [200, vercel, `https://${HOST}/v10/projects/shop/domains`, ...own, ...json({ name: WWW, note: 'vcp_MARK' })],
  ];
  for (const [status, connected, ...words] of cases)
    expect(await send(connected, ...words), words.join(' ')).toBe(status);
  const { items } = await engine.call('traffic.list', { limit: 100 });
  expect(items.map(({ status }) => status).toReversed()).toEqual(cases.map(([status]) => status));
  const texts = await Promise.all([
    ...items.map(({ id }) => engine.call('traffic.get', { id })),
    engine.call('traffic.har'),
    engine.call('world.export'),
    ...items.map(({ id }) => engine.call('traffic.replay', { id }).catch(String)),
  ]);
  const snapshot = join(folder, 'world.db');
  await engine.call('snapshots.save', { name: 'kept', traffic: true });
  await engine.call('snapshots.save', { name: 'given', file: snapshot, traffic: true });
  const heap = writeHeapSnapshot(join(folder, 'heap.json'));
  writeFileSync(join(folder, 'texts.json'), JSON.stringify([texts, engine.log]));
  const places = [folder, engine.dataDir];
  const found = await run('/bin/sh', ['-c', `grep -rlaf '${marker}' --exclude=marker ${places.join(' ')} || true`]);
  expect(found.stdout).toBe('');
  // The search finds what is there: our own token is in this process, and its hash in no file.
  expect(readFileSync(heap, 'utf8').includes(token)).toBe(true);
});
