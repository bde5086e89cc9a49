import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { openAuthority } from '../../../main/ca/authority.ts';
import { withdrawRoot } from '../../../main/cli/uninstall.ts';
import { trustLedger } from '../../../main/composition/machine.ts';
import { codeOf, type Step, withBlock } from '../../../main/machine/change.ts';
import { type Entry, openLedger } from '../../../main/machine/ledger.ts';
import { startEngine } from '../../support/engine.ts';
import { runCli } from '../../support/rpc/rpc-cli.ts';
import { createMachine, importInto, listed, makeDatabase } from './machine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const FIREFOX = 'nss:firefox:anna.default';

/** A user with Chromium and Firefox who trusts the root in both. */
async function trustingMachine() {
  const machine = createMachine();
  const chromium = await makeDatabase(join(machine.home, '.pki/nssdb'));
  const firefox = await makeDatabase(join(machine.home, '.mozilla/firefox/anna.default'));
  writeFileSync(
    join(machine.home, '.mozilla/firefox/profiles.ini'),
    '[Profile0]\nName=anna\nIsRelative=1\nPath=anna.default\n',
  );
  for (const id of ['nss:user', FIREFOX]) await machine.stores.trust(id);
  machine.commands.length = 0;
  return { ...machine, chromium, firefox };
}

/** A change of a file in the ledger. */
function entryFor(id: string, path: string, dataDir: string): Entry {
  const lines = ['127.0.0.1 a.test'];
  const steps: Step[] = [{ kind: 'block', path, was: '', is: withBlock('', 'a.test', lines), mark: 'a.test', lines }];
  const parts = { id, steps, afterApply: [], afterUndo: [] };
  const at = '2026-11-22T12:00:00.000Z';
  return { ...parts, kind: 'hosts', what: 'The hosts file has a.test', at, dataDir, code: codeOf(parts) };
}

const outcomesOf = (outcomes: Awaited<ReturnType<typeof withdrawRoot>>) =>
  Object.fromEntries(outcomes.map(({ store, outcome }) => [store, outcome]));

test('the root is removed from every store, once', async () => {
  const { stores, chromium, firefox } = await trustingMachine();
  expect(outcomesOf(await withdrawRoot(stores, false))).toMatchObject({ 'nss:user': 'removed', [FIREFOX]: 'removed' });
  expect([await listed(chromium), await listed(firefox)]).toEqual([[], []]);
  expect(outcomesOf(await withdrawRoot(stores, false))).toMatchObject({ 'nss:user': 'absent', [FIREFOX]: 'absent' });
});

test('of a store that cannot be read, or has roots of others, its own message is reported', async () => {
  const store = (state: 'untrusted' | 'unavailable', otherRoots?: { name: string; fingerprint: string }[]) => ({
    ...{ store: 's', title: 'S', state, message: 'told' },
    ...(otherRoots && { otherRoots }),
  });
  const stores = [store('untrusted'), store('unavailable'), store('untrusted', [{ name: 'anna', fingerprint: '00' }])];
  const trust = { list: () => Promise.resolve(stores), untrust: () => Promise.reject(new Error('not asked')) };
  expect((await withdrawRoot(trust, true)).map(({ message }) => message)).toEqual(['', 'told', 'told']);
});

test('the ledger lists each trusted store, and its script removes the root without Vivarium', async () => {
  const ledger = openLedger({ folder: join(temporaryFolder(), 'machine'), platform: process.platform, root: '' });
  const { home, stores } = createMachine({ ledger: trustLedger(ledger, { dataDir: '/data', now: () => 0 }) });
  const chromium = await makeDatabase(join(home, '.pki/nssdb'));
  await stores.trust('nss:user');
  expect(ledger.read()).toMatchObject([{ id: 'trust:nss:user', kind: 'trust', dataDir: '/data', store: 'nss:user' }]);
  execFileSync('/bin/sh', [ledger.undoScript]);
  expect(await listed(chromium)).toEqual([]);
  await stores.trust('nss:user');
  await stores.untrust('nss:user');
  expect([await listed(chromium), ledger.read()]).toEqual([[], []]);
});

test('a dry run changes nothing', async () => {
  const { stores, commands } = await trustingMachine();
  expect(outcomesOf(await withdrawRoot(stores, true))).toMatchObject({
    'nss:user': 'would_remove',
    [FIREFOX]: 'would_remove',
  });
  expect(commands.filter(({ args }) => args[0] !== '-L')).toEqual([]);
});

test('a failing store does not stop the others, and a store that asks for a password shows its command', async () => {
  const { stores } = await trustingMachine();
  const title = 'Another store';
  const held = { title, state: 'trusted', present: true, message: '' } as const;
  const some = {
    list: async () => [{ ...held, store: 'broken' }, { ...held, store: 'locked' }, ...(await stores.list())],
    untrust(store: string) {
      if (store === 'broken') return Promise.reject(new Error('It is read-only.'));
      if (store === 'locked') return Promise.resolve({ ...held, store, command: 'sudo rm root.pem' });
      return stores.untrust(store);
    },
  };
  const outcomes = await withdrawRoot(some, false);
  expect(outcomes.slice(0, 2)).toEqual([
    { store: 'broken', title, outcome: 'failed', message: 'It is read-only.' },
    { store: 'locked', title, outcome: 'to_paste', message: '', command: 'sudo rm root.pem' },
  ]);
  expect(outcomesOf(outcomes)).toMatchObject({ 'nss:user': 'removed', [FIREFOX]: 'removed' });
});

test('vivarium uninstall works without an engine, and keeps the data folder', async () => {
  const home = temporaryFolder();
  const dataDir = join(home, "Ann's data");
  mkdirSync(dataDir);
  const authority = openAuthority({ directory: join(dataDir, 'ca'), clock: createClock(), owner: 'anna@laptop' });
  const database = await makeDatabase(join(home, '.pki/nssdb'));
  await importInto(database, 'Vivarium', authority.root().certificatePem);
  writeFileSync(join(home, '.curlrc'), `cacert = ${authority.certificateFile}\n`);
  const hosts = join(home, 'hosts');
  const ledger = openLedger({ folder: join(home, '.local/state/vivarium/machine'), platform: 'linux', root: '' });
  await ledger.alone(() => {
    ledger.write([
      entryFor('hosts:a.test', hosts, dataDir),
      entryFor('hosts:b.test', join(home, 'other'), '/of/another'),
    ]);
  });
  writeFileSync(hosts, withBlock('', 'a.test', ['127.0.0.1 a.test']));
  const words = ['--data-dir', dataDir];

  const dry = await runCli(['uninstall', '--dry-run', ...words], { env: { HOME: home } });
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toContain('would be removed from Chromium and Chrome');
  expect(await listed(database)).toHaveLength(1);
  expect(dry.stdout).toContain('The changes to this machine\n  would be undone: The hosts file has a.test\n');

  const twin = join(home, '.local/share/vivarium');
  cpSync(dataDir, twin, { recursive: true });
  const shared = await runCli(['uninstall', ...words], { env: { HOME: home } });
  expect([shared.code, await listed(database)]).toEqual([0, [expect.anything()]]);
  expect(shared.stdout).toContain('  kept in Chromium and Chrome\n');
  expect(shared.stdout).toMatch(new RegExp(`  It is also the root of ${twin}, [^]*\n    .*vivarium.* uninstall`));
  rmSync(twin, { recursive: true });
  expect(shared.stdout).toContain('  undone: The hosts file has a.test\n');
  expect([readFileSync(hosts, 'utf8'), ledger.read().map(({ id }) => id)]).toEqual(['', ['hosts:b.test']]);

  const done = await runCli(['uninstall', ...words], { env: { HOME: home } });
  expect([done.code, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('  removed from Chromium and Chrome\n');
  expect(done.stdout).toContain(`  ${home}/.curlrc names the root\n`);
  expect(done.stdout).toContain(`    rm -rf -- '${home}/Ann'"'"'s data'\n`);
  expect(await listed(database)).toEqual([]);
  expect(readFileSync(authority.certificateFile, 'utf8')).toBe(authority.root().certificatePem);

  const again = await runCli(['uninstall', '--json', ...words], { env: { HOME: home } });
  const report = JSON.parse(again.stdout) as { stores: { store: string; outcome: string }[] };
  expect(report.stores).toContainEqual(expect.objectContaining({ store: 'nss:user', outcome: 'absent' }));
});

test('vivarium uninstall reports that a folder without a root has nothing in a store', async () => {
  const folder = temporaryFolder();
  const { code, stdout } = await runCli(['uninstall', '--data-dir', join(folder, 'none')], { env: { HOME: folder } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/There is none in .*so no trust store has it\.[^]*none does not exist\./);
});

test('vivarium uninstall asks a running Vivarium, and reports that it has to be stopped first', async () => {
  const { dataDir } = await startEngine();
  const env = { HOME: temporaryFolder() };
  const dry = await runCli(['uninstall', '--dry-run', '--json', '--data-dir', dataDir], { env });
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(JSON.parse(dry.stdout)).toMatchObject({ running: true, dryRun: true, dataDir });
  const { stdout } = await runCli(['uninstall', '--dry-run', '--data-dir', dataDir], { env });
  expect(stdout).toMatch(
    /Vivarium is running on it\. To stop it:\n {4}\S*vivarium .*stop --data-dir .*\n {2}To delete it then:\n {4}rm /,
  );
  expect(stdout).toMatch(/^ {2}A browser, .*\n {6}By hand: Delete /m);
});
