import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { execute } from '../../support/command.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { finished, startCli } from '../../support/rpc/rpc-cli.ts';
import { hasProgram } from '../../support/tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** An app that serves one domain of a customer each time; the host of the API is in its code, as in production. */
const APP = `
const call = async (method, path, body) => {
  const answer = await fetch('https://api.vercel.com' + path, {
    method,
    headers: { authorization: 'Bearer ' + process.env.VERCEL_TOKEN, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, ...(await answer.json()) };
};
const project = process.env.VERCEL_PROJECT_ID;
`;
const ATTACH = `${APP}
console.log(JSON.stringify([
  await call('POST', '/v10/projects/' + project + '/domains', { name: 'www.customer.test' }),
  await call('GET', '/v6/domains/www.customer.test/config'),
  { oidc: process.env.VERCEL_OIDC_TOKEN ?? 'unset', other: process.env.VERCEL_API_TOKEN === process.env.VERCEL_TOKEN },
]));`;

const PYTHON = `
import json, os, urllib.request
request = urllib.request.Request('https://api.vercel.com/v5/domains', headers={'Authorization': 'Bearer ' + os.environ['VERCEL_TOKEN']})
print(json.dumps(json.load(urllib.request.urlopen(request))))`;

const hasPython = spawnSync('/usr/bin/python3', ['-c', 'import ssl']).status === 0;

async function runAs(dataDir: string, words: readonly string[], command: readonly string[], env = {}) {
  return finished(startCli(['run', 'shop', ...words, '--data-dir', dataDir, '--', ...command], env, temporaryFolder()));
}

async function connections(engine: Engine): Promise<unknown[]> {
  const [vercel] = await engine.call('providers.list');
  return vercel?.connections ?? [];
}

it('an unmodified app attaches its customer’s domain here, by fetch, curl and Python, with none of its real credentials', async () => {
  const engine = await startEngine({ empty: true });
  const { dataDir } = engine;
  await engine.call('projects.create', { name: 'Shop' });
  const file = join(temporaryFolder(), 'app.mjs');
  writeFileSync(file, ATTACH);
  const real = { VERCEL_TOKEN: 'real', VERCEL_API_TOKEN: 'real', VERCEL_OIDC_TOKEN: 'real' };
  const byFetch = await runAs(dataDir, ['--as', 'vercel=shop'], [process.execPath, file], real);
  expect(JSON.parse(byFetch.stdout)).toMatchObject([
    { status: 200, name: 'www.customer.test', verified: true },
    { status: 200, misconfigured: true },
    { oidc: 'unset', other: true },
  ]);
  const curl = 'curl -sS -H "Authorization: Bearer $VERCEL_TOKEN" https://api.vercel.com/v5/domains';
  const commands = [['/bin/sh', '-c', curl], ...(hasPython ? [['/usr/bin/python3', '-c', PYTHON]] : [])];
  for (const command of commands) {
    const { stdout } = await runAs(dataDir, ['--as', 'vercel=shop'], command);
    expect(JSON.parse(stdout)).toMatchObject({ domains: [{ name: 'customer.test' }] });
  }
  expect(await connections(engine)).toEqual([]);
});

const FLOWS = join(import.meta.dirname, '..', '..', 'support', 'provider-clients');

/** Builds a program of one file. */
async function built(file: string): Promise<string[]> {
  const program = join(temporaryFolder(), 'flow');
  await execute('go', ['build', '-o', program, file]);
  return [program];
}

it.for([
  { name: 'Go', isThere: hasProgram('go', 'version'), command: () => built(join(FLOWS, 'flow.go')) },
  { name: 'Python', isThere: hasPython, command: () => ['/usr/bin/python3', join(FLOWS, 'flow.py')] },
])('an unmodified app in $name sees the wrong record, the right one, and the certificate', async (app, { skip }) => {
  skip(!app.isThere, 'It is not installed.');
  const engine = await startEngine({ empty: true });
  await engine.call('projects.create', { name: 'Shop' });
  await engine.call('zones.create', { name: 'customer.test' });
  const command = [...(await app.command()), 'www.customer.test'];
  const words = ['run', 'shop', '--as', 'vercel=shop', '--data-dir', engine.dataDir, '--', ...command];
  const child = startCli(words, {}, temporaryFolder());
  const end = finished(child);
  let said = '';
  child.stdout?.on('data', (text: string) => (said += text));
  await expect.poll(() => said).toContain('[true,[]]\n');
  const record = { zone: 'customer.test', name: 'www', type: 'CNAME', value: 'elsewhere.customer.test' };
  const { id } = await engine.call('records.put', record);
  await expect.poll(() => said).toContain('[true,["elsewhere.customer.test"]]\n');
  await engine.call('records.update', { id, value: 'cname.vivarium.localhost' });
  const { code, stdout } = await end;
  const last = '[false,["cname.vivarium.localhost"]]\n[true,["www.customer.test"]]\n';
  expect([code, stdout]).toEqual([0, expect.stringContaining(last)]);
  const domain = { state: 'verified', certificate: { state: 'issued' } };
  expect(await engine.call('domains.get', { hostname: 'www.customer.test' })).toMatchObject(domain);
});

/** The official client without options, as in production, and a customer's own polling. */
const SAAS = `
import { createRequire } from 'node:module';
const Cloudflare = createRequire(process.argv[2])('cloudflare');
const client = new Cloudflare();
const zone_id = process.env.CLOUDFLARE_ZONE_ID;
const ssl = { method: 'http', type: 'dv' };
let { id, status } = await client.customHostnames.create({ zone_id, hostname: 'www.customer.test', ssl });
for (let tries = 0; status !== 'active' && tries < 20; tries++) ({ status } = await client.customHostnames.edit(id, { zone_id, ssl }));
const { ssl: certificate } = await client.customHostnames.get(id, { zone_id });
console.log(JSON.stringify({ status, certificate: certificate.status, key: process.env.CLOUDFLARE_API_KEY ?? 'unset' }));`;

it('an unmodified app has a custom hostname at Cloudflare served here, beside another provider', async () => {
  const engine = await startEngine({ empty: true });
  const { dataDir } = engine;
  for (const name of ['Shop', 'Blog']) await engine.call('projects.create', { name });
  await engine.call('zones.create', { name: 'customer.test' });
  const record = { zone: 'customer.test', name: 'www', type: 'CNAME', value: 'shop.vivarium.localhost' };
  await engine.call('records.put', record);
  const file = join(temporaryFolder(), 'app.mjs');
  writeFileSync(file, SAAS);
  const real = { CLOUDFLARE_API_TOKEN: 'real', CLOUDFLARE_API_KEY: 'real', CLOUDFLARE_BASE_URL: 'https://example.com' };
  const both = ['--as', 'vercel=blog', '--as', 'cloudflare=shop'];
  const { stdout } = await runAs(dataDir, both, [process.execPath, file, import.meta.filename], real);
  expect(JSON.parse(stdout)).toEqual({ status: 'active', certificate: 'active', key: 'unset' });
});

it('the command of a vivarium.yaml reaches the providers that the file names', async () => {
  const { dataDir } = await startEngine({ empty: true });
  const folder = temporaryFolder();
  const run = 'curl -sS -H "Authorization: Bearer $VERCEL_TOKEN" https://api.vercel.com/v5/domains';
  writeFileSync(
    join(folder, 'vivarium.yaml'),
    JSON.stringify({ vivarium: 1, projects: { shop: { run, as: 'vercel' } } }),
  );
  const { stdout } = await finished(startCli(['run', '--data-dir', dataDir], {}, folder));
  expect(JSON.parse(stdout)).toMatchObject({ domains: [] });
  const refused = await finished(startCli(['run', '--no-env', '--data-dir', dataDir], {}, folder));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('needs the proxy and')]);
});

it('the run is refused where it could reach the real API, and says why', async () => {
  const engine = await startEngine({ empty: true });
  const { dataDir } = engine;
  const excluded = await runAs(dataDir, ['--as', 'vercel'], ['true'], { NO_PROXY: '.vercel.com' });
  expect([excluded.code, excluded.stderr]).toEqual([1, expect.stringContaining('NO_PROXY covers api.vercel.com')]);
  const withoutProxy = await runAs(dataDir, ['--as', 'vercel', '--no-env'], ['true']);
  expect([withoutProxy.code, withoutProxy.stderr]).toEqual([1, expect.stringContaining('needs the proxy and')]);
  const unknown = await runAs(dataDir, ['--as', 'heroku'], ['true']);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('must be one of vercel')]);
  expect(await connections(engine)).toEqual([]);
});

it('says after a restart of Vivarium that the command has to be started again', async () => {
  const { dataDir, ...first } = await startEngine({ empty: true });
  const child = startCli(
    ['run', 'shop', '--as', 'vercel', '--data-dir', dataDir, '--', 'sleep', '60'],
    {},
    temporaryFolder(),
  );
  await expect.poll(() => connections({ dataDir, ...first })).toHaveLength(1);
  let said = '';
  child.stderr?.on('data', (text: Buffer) => (said += text.toString()));
  await first.call('snapshots.save', { name: 'now' });
  await first.call('snapshots.restore', { name: 'now' });
  await first.stop();
  await expect.poll(() => said).toContain('has stopped');
  expect(said).not.toContain('Start the command again.');
  await startEngine({ empty: true, dataDir });
  await expect.poll(() => said, { timeout: 10_000 }).toContain('no longer reaches the API of vercel');
  const ended = finished(child);
  child.kill('SIGTERM');
  await ended;
});

it('nothing is left of the connection and its bundles after SIGKILL of the run', async () => {
  const engine = await startEngine({ empty: true });
  const sleep = ['run', 'shop', '--as', 'vercel', '--data-dir', engine.dataDir, '--', 'sleep', '60'];
  const child = startCli(sleep, {}, temporaryFolder());
  await expect.poll(() => connections(engine)).toHaveLength(1);
  const bundles = () => globSync(join(tmpdir(), '**', `${child.pid}-*`, 'roots.pem'));
  await expect.poll(bundles).toHaveLength(1);
  child.kill('SIGKILL');
  await expect.poll(() => connections(engine)).toEqual([]);
  expect(readdirSync(join(engine.dataDir, 'providers'))).toEqual([]);
  expect(await engine.call('runs.list')).toEqual([]);
  await expect.poll(bundles).toEqual([]);
});
