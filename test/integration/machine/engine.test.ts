import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEngine } from '../../support/engine.ts';
import { runCli } from '../../support/rpc/rpc-cli.ts';
import { makeRoot, SET_UPS, treeOf } from './set-ups.ts';

const HOSTNAME = 'demo.vivarium.localhost';
const ID = `hosts:${HOSTNAME}`;

test.runIf(process.platform === 'linux')('a change is planned, made and undone by commands', async () => {
  const machineRoot = makeRoot(SET_UPS.neither ?? {});
  const before = treeOf(machineRoot);
  const { dataDir, call } = await startEngine({}, { machineRoot });
  const vivarium = (...words: string[]) => runCli(['machine', ...words, '--data-dir', dataDir]);

  const planned = await vivarium('plan', HOSTNAME);
  expect(planned.stdout).toContain(`  /etc/hosts\n    + # Vivarium begin: ${HOSTNAME}\n`);
  expect(planned.stdout).toContain('Browsers find names under localhost on this machine by themselves.');
  expect(planned.stdout).toContain(`--http-port 80 --https-port 443`);
  const [, code = ''] = new RegExp(`machine apply ${HOSTNAME} ([0-9a-f]{8})`).exec(planned.stdout) ?? [];
  expect((await vivarium('status')).stdout).toMatch(/^Vivarium has changed nothing on this machine\./);

  const applied = await vivarium('apply', HOSTNAME, code);
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/^demo\.\S+ in \/etc\/hosts: done\n/)]);
  expect(readFileSync(join(machineRoot, 'etc/hosts'), 'utf8')).toContain(`\n127.0.0.1 ${HOSTNAME}\n`);
  const { changes } = await call('machine.plan', { hostname: HOSTNAME });
  expect(changes.find(({ id }) => id === ID)).toMatchObject({
    ...{ state: 'applied', dataDir, before: expect.stringContaining('localhost') },
    command: expect.stringContaining(`machine undo --ids ${ID}`),
  });
  expect((await vivarium('export')).stdout).toContain('"was": "127.0.0.1\\tlocalhost');

  const again = await vivarium('apply', HOSTNAME, code);
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/Plan again: .*machine plan demo/)]);
  const undone = await vivarium('undo');
  expect([undone.code, undone.stdout]).toEqual([0, `Undone: ${HOSTNAME} in /etc/hosts\n`]);
  expect(treeOf(machineRoot)).toEqual(before);
  expect((await vivarium('plan', 'nobody.test')).stderr).toContain('Nothing is served at nobody.test');
});
