import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createLeafContexts } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { launchChromium } from '../../support/chromium.ts';
import { run } from '../../support/command.ts';
import { startHttpsServer } from './https-server.ts';
import { createMachine, importInto, listed, makeDatabase } from './machine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createClock();
const start = (fingerprint: string) => fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase();

/** A machine whose user has Chromium's database. */
async function machineWithDatabase() {
  const machine = createMachine();
  const database = await makeDatabase(join(machine.home, '.pki/nssdb'));
  return { ...machine, database };
}

/** A third party's authority, as a company installs it. */
async function foreignRoot(): Promise<string> {
  const folder = temporaryFolder();
  const file = join(folder, 'corp.pem');
  // oxfmt-ignore
  await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3',
    '-keyout', join(folder, 'key.pem'), '-out', file, '-subj', '/O=Corp/CN=Corp root']);
  return (await run('cat', [file])).text;
}

describe('the user’s NSS database', () => {
  test('trusts the root after trust, and no longer after untrust', async () => {
    const { stores, statusOf, authority, database } = await machineWithDatabase();
    expect(await statusOf('nss:user')).toMatchObject({
      state: 'untrusted',
      message: 'The store does not contain the root.',
    });

    const trusted = await stores.trust('nss:user');
    expect(trusted).toMatchObject({ store: 'nss:user', state: 'trusted' });
    expect(trusted.message).toBe('The store has the root; no handshake was tried. Restart Chromium if it is running.');
    expect(await statusOf('nss:user')).toMatchObject({ state: 'trusted' });
    expect(await listed(database)).toEqual([`Vivarium root ${start(authority.root().fingerprint)} | C,,`]);

    expect(await stores.untrust('nss:user')).toMatchObject({ state: 'untrusted' });
    expect(await listed(database)).toEqual([]);
  });

  test('is not written to when there is nothing to change', async () => {
    const { stores, commands } = await machineWithDatabase();
    await stores.untrust('nss:user');
    await stores.trust('nss:user');
    commands.length = 0;
    await stores.trust('nss:user');
    expect(commands.filter(({ args }) => args[0] !== '-L')).toEqual([]);
  });

  test('keeps foreign certificates unchanged during trust and untrust', async () => {
    const { stores, database } = await machineWithDatabase();
    const another = createRoot({ realNowMs: clock.state().realNow, owner: 'bob@desk' });
    await importInto(database, 'Corp root', await foreignRoot(), 'CT,C,C');
    await importInto(database, 'Vivarium of somebody', await foreignRoot(), 'C,,');
    await importInto(database, 'Vivarium root 01234567', another.certificatePem);
    const before = await listed(database);
    await stores.trust('nss:user');
    expect(await listed(database)).toEqual(expect.arrayContaining(before));
    await stores.untrust('nss:user');
    expect(await listed(database)).toEqual(before);
  });

  test('with another Vivarium’s root reports it, and removes it only by fingerprint', async () => {
    const { stores, statusOf, database } = await machineWithDatabase();
    const another = createRoot({ realNowMs: clock.state().realNow, owner: 'anna@laptop' });
    await importInto(database, 'Vivarium root 01234567', another.certificatePem);
    expect(await statusOf('nss:user')).toMatchObject({
      state: 'other_root',
      message: expect.stringMatching(
        '^The store does not contain the root\\. It contains the root of another Vivarium, .*: Vivarium root \\(anna@laptop [0-9a-f]{6}\\)\\.$',
      ) as string,
      otherRoots: [{ fingerprint: another.fingerprint, name: expect.stringContaining('anna@laptop') }],
    });
    await stores.untrust('nss:user');
    expect(await listed(database)).toHaveLength(1);
    await expect(stores.untrust('nss:user', 'AB:CD')).rejects.toThrow(
      'has no Vivarium root with the fingerprint AB:CD',
    );
    expect(await stores.untrust('nss:user', another.fingerprint.toLowerCase())).toMatchObject({ state: 'untrusted' });
    expect(await listed(database)).toEqual([]);
  });

  test('gets the new root in place of the one from before an extension', async () => {
    const { stores, statusOf, authority, database } = await machineWithDatabase();
    await stores.trust('nss:user');
    authority.extend('acme.com');
    expect(await statusOf('nss:user')).toMatchObject({
      state: 'other_root',
      message:
        'Only an older certificate of the root is trusted, which does not permit all of localhost, test, example, internal, acme.com; trust the new one.',
    });
    expect(await stores.trust('nss:user')).toMatchObject({ state: 'trusted' });
    expect(await listed(database)).toEqual([`Vivarium root ${start(authority.root().fingerprint)} | C,,`]);
  });

  test('loses older certificates of the root together with it, under any nickname', async () => {
    const { stores, authority, database } = await machineWithDatabase();
    await importInto(database, 'imported by hand', authority.root().certificatePem);
    authority.extend('acme.com');
    await importInto(database, 'again by hand', authority.root().certificatePem);
    authority.extend('acme.org');
    await stores.trust('nss:user');
    expect(await listed(database)).toEqual([`Vivarium root ${start(authority.root().fingerprint)} | C,,`]);
    await importInto(database, 'once more', authority.older()[0]?.toString() ?? '');
    expect(await stores.untrust('nss:user')).toMatchObject({ state: 'untrusted' });
    expect(await listed(database)).toEqual([]);
  });

  test('that contains the root without trust is recognised and fixed', async () => {
    const { stores, statusOf, authority, database } = await machineWithDatabase();
    await importInto(database, 'Vivarium', authority.root().certificatePem, ',,');
    expect(await statusOf('nss:user')).toMatchObject({
      state: 'untrusted',
      message: 'The store contains the root but does not trust it for websites.',
    });
    expect(await stores.trust('nss:user')).toMatchObject({ state: 'trusted' });
  });

  test('with its own password stays unchanged, and the error tells what to do', async () => {
    const { stores, home } = createMachine();
    const password = join(temporaryFolder(), 'password');
    writeFileSync(password, 'correct horse\n');
    const database = await makeDatabase(join(home, '.pki/nssdb'), password);
    await expect(stores.trust('nss:user')).rejects.toThrow(/has its own password.*Import the root manually/);
    expect(await listed(database)).toEqual([]);
  });

  test('keeps a foreign certificate that has the root’s nickname', async () => {
    const { stores, authority, database } = await machineWithDatabase();
    await importInto(database, `Vivarium root ${start(authority.root().fingerprint)}`, await foreignRoot());
    const before = await listed(database);
    await expect(stores.trust('nss:user')).rejects.toThrow(/the command that adds the root failed \(255\)/);
    expect(await stores.untrust('nss:user')).toMatchObject({ state: 'untrusted' });
    expect(await listed(database)).toEqual(before);
  });

  test('is unavailable when it is damaged', async () => {
    const { stores, database } = await machineWithDatabase();
    writeFileSync(join(database, 'cert9.db'), 'garbage'.repeat(1000));
    expect(await stores.trust('nss:user')).toMatchObject({
      state: 'unavailable',
      message: expect.stringMatching(/cannot be read: certutil: .*SEC_ERROR_BAD_DATABASE/),
    });
  });

  test('is unavailable before a browser has created it, and the status tells how', async () => {
    const { stores, statusOf, home, commands } = createMachine();
    expect(await stores.trust('nss:user')).toEqual({
      store: 'nss:user',
      title: 'Chromium and Chrome',
      state: 'unavailable',
      needs: 'a first start of Chromium, or the empty database that the command creates',
      command: `mkdir -p ${home}/.pki/nssdb && certutil -N -d sql:${home}/.pki/nssdb --empty-password`,
      message: `There is no database in ${home}/.pki/nssdb yet.`,
    });
    expect(commands).toEqual([]);
    const pasted = (await statusOf('nss:user'))?.command ?? '';
    expect(await run('sh', ['-c', pasted])).toMatchObject({ code: 0 });
    expect(await stores.trust('nss:user')).toMatchObject({ state: 'trusted' });
  });

  test('is found where Debian’s Chromium creates it, when the usual place is empty', async () => {
    const { stores, home } = createMachine();
    const database = await makeDatabase(join(home, '.local/share/pki/nssdb'));
    expect(await stores.trust('nss:user')).toMatchObject({ state: 'trusted' });
    expect(await listed(database)).toHaveLength(1);
  });

  test('without certutil is unavailable, with the command that installs it', async () => {
    const empty = temporaryFolder();
    const machine = createMachine({ environment: { PATH: empty } });
    await makeDatabase(join(machine.home, '.pki/nssdb'));
    const status = await machine.stores.trust('nss:user');
    expect(status).toMatchObject({ state: 'unavailable', needs: 'NSS’s certutil' });
    expect(status.command).toMatch(/^sudo .*(libnss3-tools|nss-tools|nss|mozilla-nss-tools)$/);
    expect(machine.commands).toEqual([]);
  });

  test('accepts one change at a time', async () => {
    const { stores } = await machineWithDatabase();
    const first = stores.trust('nss:user');
    await expect(stores.untrust('nss:user')).rejects.toMatchObject({ code: 'conflict' });
    expect(await first).toMatchObject({ state: 'trusted' });
  });

  test('is listed in the error for an unknown store', async () => {
    const { stores } = createMachine();
    await expect(stores.trust('nss:opera')).rejects.toThrow(
      'There is no trust store "nss:opera" here; there are: system, nss:user.',
    );
  });
});

describe('Firefox', () => {
  test('has its profiles found through profiles.ini, including moved ones, and by folder', async () => {
    const { home, stores, statusOf } = createMachine();
    const firefox = join(home, '.mozilla/firefox');
    const moved = join(temporaryFolder(), 'moved profile');
    await makeDatabase(join(firefox, 'a1b2.default-release'));
    await makeDatabase(join(firefox, 'forgotten.copy'));
    await makeDatabase(moved);
    mkdirSync(join(firefox, 'never.used'));
    const ini = [
      '[Install4F96D1932A9F858E]\nDefault=a1b2.default-release\nLocked=1\n',
      '[Profile1]\nName=default\nIsRelative=1\nPath=never.used\n',
      '[Profile0]\nName=default-release\nIsRelative=1\nPath=a1b2.default-release\n',
      `[Profile2]\r\nName=work\r\nIsRelative=0\r\nPath=${moved}\r\n`,
      '[General]\nStartWithLastProfile=1\nVersion=2\n',
    ];
    writeFileSync(join(firefox, 'profiles.ini'), ini.join('\n'));
    const ids = (await stores.list()).map((status) => status.store).filter((id) => id.startsWith('nss:firefox'));
    expect(ids).toEqual([
      'nss:firefox:a1b2.default-release',
      'nss:firefox:moved profile',
      'nss:firefox:forgotten.copy',
    ]);
    expect(await stores.trust('nss:firefox:moved profile')).toMatchObject({
      title: 'Firefox, profile "moved profile"',
      state: 'trusted',
      message: 'The store has the root; no handshake was tried. Restart Firefox if it is running.',
    });
    expect(await statusOf('nss:firefox:a1b2.default-release')).toMatchObject({ state: 'untrusted' });
    expect(await stores.untrust('nss:firefox:moved profile')).toMatchObject({ state: 'untrusted' });
  });

  test('is unavailable until its first run', async () => {
    const { home, statusOf } = createMachine();
    const folder = join(home, 'snap/firefox/common/.mozilla/firefox');
    mkdirSync(folder, { recursive: true });
    // No command, since the name of the profile is not known.
    expect(await statusOf('nss:firefox-snap')).toEqual({
      store: 'nss:firefox-snap',
      title: 'Firefox from the snap store',
      state: 'unavailable',
      message: `There is no profile in ${folder} yet.`,
      needs: 'a first start of Firefox',
    });
  });
});

test('Chromium opens a page after trust, and refuses it after untrust', async () => {
  const { home, stores, authority } = await machineWithDatabase();
  const leaves = createLeafContexts({ ...authority, clock });
  const { port } = await startHttpsServer(leaves.contextFor);
  const visit = async (hostname: string) => {
    const browser = await launchChromium({ home, args: ['--host-resolver-rules=MAP *.com 127.0.0.1'] });
    try {
      const page = await browser.newPage();
      await page.goto(`https://${hostname}:${port}/`);
      return await page.textContent('body');
    } finally {
      await browser.close();
    }
  };
  await stores.trust('nss:user');
  expect(await visit('demo.vivarium.localhost')).toBe(`served to demo.vivarium.localhost:${port}`);

  authority.extend('acme.com');
  leaves.dropAll();
  expect(await visit('demo.vivarium.localhost')).toContain('served to');
  await expect(visit('www.acme.com')).rejects.toThrow('ERR_CERT_INVALID');
  await stores.trust('nss:user');
  expect(await visit('www.acme.com')).toBe(`served to www.acme.com:${port}`);

  await stores.untrust('nss:user');
  await expect(visit('demo.vivarium.localhost')).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
});
