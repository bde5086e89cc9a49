import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Run } from '../../../main/contract/runs.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { finished, startCli } from '../../support/rpc/rpc-cli.ts';
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
  const [vercel] = (await engine.call('providers.list')) as { connections: unknown[] }[];
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

it('the run is refused where it could reach the real API, and says why', async () => {
  const engine = await startEngine({ empty: true });
  const { dataDir } = engine;
  const excluded = await runAs(dataDir, ['--as', 'vercel'], ['true'], { NO_PROXY: '.vercel.com' });
  expect([excluded.code, excluded.stderr]).toEqual([1, expect.stringContaining('NO_PROXY covers api.vercel.com')]);
  const withoutProxy = await runAs(dataDir, ['--as', 'vercel', '--no-env'], ['true']);
  expect([withoutProxy.code, withoutProxy.stderr]).toEqual([1, expect.stringContaining('--as needs the proxy')]);
  const unknown = await runAs(dataDir, ['--as', 'heroku'], ['true']);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('must be one of vercel')]);
  expect(await connections(engine)).toEqual([]);
});

it('nothing is left of the connection after SIGKILL of the run', async () => {
  const engine = await startEngine({ empty: true });
  const sleep = ['run', 'shop', '--as', 'vercel', '--data-dir', engine.dataDir, '--', 'sleep', '60'];
  const child = startCli(sleep, {}, temporaryFolder());
  await expect.poll(() => connections(engine)).toHaveLength(1);
  child.kill('SIGKILL');
  await expect.poll(() => connections(engine)).toEqual([]);
  expect(readdirSync(join(engine.dataDir, 'providers'))).toEqual([]);
  expect((await engine.call('runs.list')) as Run[]).toEqual([]);
});
