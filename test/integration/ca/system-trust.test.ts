import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SystemLayout } from '../../../main/ca/stores/truststore-linux.ts';
import { createLeafContexts } from '../../../main/ca/leaf.ts';
import { createClock } from '../../../main/base/clock.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { run } from '../../support/command.ts';
import { startHttpsServer } from './https-server.ts';
import { createMachine } from './machine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createClock();

/** Debian's own `update-ca-certificates` on separate folders, with one third-party authority. */
async function debian(): Promise<SystemLayout> {
  const folder = temporaryFolder();
  const place = (name: string) => join(folder, name);
  for (const name of ['local', 'shipped', 'certs', 'hooks']) mkdirSync(place(name));
  writeFileSync(place('ca-certificates.conf'), '');
  // oxfmt-ignore
  await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3',
    '-keyout', place('key.pem'), '-out', place('local/corp.crt'), '-subj', '/CN=Corp root']);
  // oxfmt-ignore
  const update = ['update-ca-certificates', '--certsconf', place('ca-certificates.conf'), '--certsdir', place('shipped'),
    '--localcertsdir', place('local'), '--etccertsdir', place('certs'), '--hooksdir', place('hooks')] as const;
  const made = await run(update[0], update.slice(1));
  expect(made, made.text).toMatchObject({ code: 0 });
  return {
    anchors: place('local'),
    extension: '.crt',
    bundle: place('certs/ca-certificates.crt'),
    update,
    fresh: ['--fresh'],
  };
}

const start = (fingerprint: string) => fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase();

describe('a Debian system with administrator rights', () => {
  test('trusts the root after trust and not after untrust, and curl agrees', async () => {
    const layout = await debian();
    const served = { hostname: 'localhost', port: 0 };
    const { stores, authority } = createMachine({ layouts: [layout], privileged: true, served: () => served });
    const leaves = createLeafContexts({ ...authority, clock });
    const { port } = await startHttpsServer(leaves.contextFor);
    served.port = port;
    const visit = (hostname: string) =>
      run('curl', ['-sS', '--cacert', layout.bundle, '--connect-to', `::127.0.0.1:${port}`, `https://${hostname}/`]);

    expect((await visit('demo.test')).code).toBe(60);
    expect(await stores.trust('system')).toMatchObject({
      state: 'trusted',
      handshake: 'verified',
      message: 'The root is trusted. Restart running programs to make them read it.',
    });
    expect((await visit('demo.test')).text).toBe('served to demo.test');

    // The store still contains the root, but the served leaf is not signed by it.
    const other = createRoot({ realNowMs: clock.now(), owner: 'bob@desk' });
    served.port = (await startHttpsServer(createLeafContexts({ issuer: () => other, clock }).contextFor)).port;
    expect((await stores.list())[0]).toMatchObject({
      state: 'untrusted',
      handshake: 'refused',
      message: expect.stringMatching(/^The store has the root, but a handshake with localhost failed: /),
    });
    served.port = port;

    authority.extend('acme.com');
    leaves.dropAll();
    expect((await visit('demo.test')).text).toBe('served to demo.test');
    expect((await visit('www.acme.com')).text).toContain('permitted subtree violation');
    expect((await stores.list())[0]).toMatchObject({ state: 'other_root' });
    expect(await stores.trust('system')).toMatchObject({ state: 'trusted' });
    expect((await visit('www.acme.com')).text).toBe('served to www.acme.com');
    expect(readdirSync(layout.anchors).sort()).toEqual(
      ['corp.crt', `vivarium-${start(authority.root().fingerprint)}.crt`].sort(),
    );

    expect(await stores.untrust('system')).toMatchObject({ state: 'untrusted' });
    expect((await visit('demo.test')).code).toBe(60);
    expect(readdirSync(layout.anchors)).toEqual(['corp.crt']);
    expect(readFileSync(layout.bundle, 'utf8')).toContain(
      readFileSync(join(layout.anchors, 'corp.crt'), 'utf8').trim(),
    );
  });

  test('keeps another Vivarium’s root, and a file with third-party certificates', async () => {
    const layout = await debian();
    const { stores, authority } = createMachine({ layouts: [layout], privileged: true });
    const another = createRoot({ realNowMs: clock.state().realNow, owner: 'bob@desk' });
    const corp = readFileSync(join(layout.anchors, 'corp.crt'), 'utf8');
    writeFileSync(join(layout.anchors, 'another.crt'), another.certificatePem);
    await run(layout.update[0], layout.update.slice(1));
    await stores.trust('system');
    expect(await stores.untrust('system')).toMatchObject({ state: 'other_root' });
    expect(readdirSync(layout.anchors).sort()).toEqual(['another.crt', 'corp.crt']);

    writeFileSync(join(layout.anchors, 'both.crt'), corp + authority.root().certificatePem);
    await run(layout.update[0], layout.update.slice(1));
    expect((await stores.list())[0]).toMatchObject({ state: 'trusted' });
    await expect(stores.untrust('system')).rejects.toThrow(/was added in a way that Vivarium cannot undo/);
    expect(readdirSync(layout.anchors).sort()).toEqual(['another.crt', 'both.crt', 'corp.crt']);
    await stores.untrust('system', another.fingerprint);
    expect(readdirSync(layout.anchors).sort()).toEqual(['both.crt', 'corp.crt']);
  });

  test('is not reported as trusted if the update fails', async () => {
    const layout: SystemLayout = { ...(await debian()), update: ['false'] };
    const { stores } = createMachine({ layouts: [layout], privileged: true });
    await expect(stores.trust('system')).rejects.toThrow(
      /the command that updates the system’s trust store failed \(1\)/,
    );
    expect(readdirSync(layout.anchors)).toEqual(['corp.crt']);
  });

  test('is not reported as trusted if the update has no effect', async () => {
    const layout: SystemLayout = { ...(await debian()), update: ['true'] };
    const { stores } = createMachine({ layouts: [layout], privileged: true });
    await expect(stores.trust('system')).rejects.toThrow(
      /was read again, and it does not contain the root as expected/,
    );
  });
});

test('a Debian system that asks for a password runs nothing, and shows a command that works when pasted', async () => {
  const layout = await debian();
  const { stores, authority, commands } = createMachine({ layouts: [layout] });
  const asked = await stores.trust('system');
  const anchor = join(layout.anchors, `vivarium-${start(authority.root().fingerprint)}.crt`);
  expect(asked).toMatchObject({
    state: 'untrusted',
    needs: 'an administrator’s password, which sudo asks for',
    command: `sudo install -m 0644 ${authority.certificateFile} ${anchor} && sudo ${layout.update.join(' ')}`,
  });
  expect(commands).toEqual([]);
  // Here the tests' user acts as the administrator.
  const paste = (text = '') => run('sh', ['-c', text.replaceAll('sudo ', '')]);
  expect(await paste(asked.command)).toMatchObject({ code: 0 });
  const status = (await stores.list())[0];
  expect(status).toEqual(await stores.trust('system'));
  expect(status).toMatchObject({ state: 'trusted', message: 'The store has the root; no handshake was tried.' });
  expect(status).not.toHaveProperty('command');

  const removal = await stores.untrust('system');
  expect(removal).toMatchObject({ state: 'trusted', message: expect.stringMatching(/^Nothing was changed/) });
  expect(removal.command).toBe(`sudo rm -f ${anchor} && sudo ${layout.update.join(' ')} --fresh`);
  expect(await paste(removal.command)).toMatchObject({ code: 0 });
  expect(await stores.untrust('system')).toMatchObject({ state: 'untrusted' });
  expect(commands).toEqual([]);
});

test('an unknown Linux store is unavailable', async () => {
  const { stores } = createMachine({ layouts: [] });
  expect(await stores.trust('system')).toMatchObject({ state: 'unavailable' });
});
