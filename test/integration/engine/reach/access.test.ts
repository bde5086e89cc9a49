import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RuntimeFile } from '../../../../main/base/config.ts';
import { startEngine } from '../../../support/engine.ts';
import { signInWith } from '../../../support/rpc/rpc-control.ts';

it('replaces the token in its files, and returns a link for it', async () => {
  const engine = await startEngine({ empty: true });
  const { url, token } = engine.app.runtime.control;
  const status = (shown: string) =>
    fetch(`${url}/api/status/get`, { method: 'POST', headers: { authorization: `Bearer ${shown}` } });
  const { signInLink } = await engine.call('access.renewToken');
  const runtime = JSON.parse(readFileSync(join(engine.dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  const renewed = runtime.control.token;
  expect([renewed === token, engine.app.runtime.control.token]).toEqual([false, renewed]);
  expect(readFileSync(join(engine.dataDir, 'control-token'), 'utf8').trim()).toBe(renewed);
  expect(statSync(join(engine.dataDir, 'control-token')).mode & 0o777).toBe(0o600);
  expect([(await status(token)).status, (await status(renewed)).status]).toEqual([401, 200]);
  const session = (await (await signInWith(signInLink)).json()) as { token: string };
  expect((await status(session.token)).status).toBe(200);
});
