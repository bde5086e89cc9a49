import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, vi } from 'vitest';
import { demoTest as it, overTls } from '../../../support/engine-test.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { run } from '../../../support/command.ts';
import { importInto, listed, makeDatabase } from '../../ca/machine.ts';
import { runHere } from '../../../support/cli-io.ts';
import { writeFormerRoot } from '../../../support/former-root.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const COMMANDS_TIMEOUT_MS = 180_000;

afterEach(() => vi.unstubAllEnvs());

const rootOf = async (engine: Engine) => await engine.call('ca.get');

/** The leaf shown to a client that trusts `pem`; fails if the client refuses it. */
async function leafSeen(engine: Engine, servername: string, pem: string): Promise<X509Certificate> {
  const leaf = await overTls(engine, { servername, ca: pem }, (socket) => socket.getPeerX509Certificate());
  if (leaf === undefined) throw new Error('No certificate was shown.');
  return leaf;
}

const start = (fingerprint: string) => fingerprint.replaceAll(':', '').slice(0, 8).toLowerCase();

const readDer = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

describe('the root', () => {
  it('is in the file that status and runtime.json name', async ({ engine }) => {
    const root = await rootOf(engine);
    expect(root.pem).toBe(readFileSync(engine.app.runtime.caFile, 'utf8'));
    expect(root.permittedSuffixes).toEqual(['localhost', 'test', 'example', 'internal']);
    expect(new X509Certificate(root.pem).fingerprint256).toBe(root.fingerprint);
  });

  it('is extended in place, with new leaves at once for clients that trust either certificate', async ({ engine }) => {
    const { call } = engine;
    const before = await rootOf(engine);
    const hostname = 'demo.vivarium.localhost';
    const leafBefore = await leafSeen(engine, hostname, before.pem);
    const extended = await call('ca.extend', { suffix: 'Acme.com.', confirm: true });
    const { message, ...after } = extended;
    expect(message).toContain('add it to them again with `ca.trust`');
    expect(after.permittedSuffixes).toEqual([...before.permittedSuffixes, 'acme.com']);
    expect(after.fingerprint).not.toBe(before.fingerprint);
    expect(await rootOf(engine)).toEqual(after);
    expect(readFileSync(engine.app.runtime.caFile, 'utf8')).toBe(after.pem);
    expect(readdirSync(join(engine.dataDir, 'ca'))).toHaveLength(4);
    for (const { pem } of [before, after]) {
      expect((await leafSeen(engine, hostname, pem)).serialNumber).not.toBe(leafBefore.serialNumber);
    }
  });

  it('has public revocation lists, at the URLs in its leaves and its intermediate', async ({ engine, call, api }) => {
    const { runtime } = engine.app;
    const leaf = await leafSeen(engine, 'demo.vivarium.localhost', (await rootOf(engine)).pem);
    const url = /http:\/\/127\.0\.0\.1:\d+\/intermediate\.crl/.exec(leaf.raw.toString('latin1'))?.[0] ?? '';
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pkix-crl']);
    const file = join(engine.dataDir, 'list.crl');
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    const intermediate = (await rootOf(engine)).intermediate ?? { pem: '' };
    expect(new X509Certificate(intermediate.pem).raw).toEqual(await readDer(url.replace('.crl', '.crt')));
    const signer = join(engine.dataDir, 'ca', 'intermediate.pem');
    expect(readFileSync(signer, 'utf8')).toBe(intermediate.pem);
    const options = ['-inform', 'DER', '-in', file, '-CAfile', signer, '-noout'];
    expect((await run('openssl', ['crl', ...options])).text).toContain('verify OK');
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    // The HTTP port, at Vivarium's own hosts: with port 0, the control port changes with each start.
    expect(url).toBe(`http://127.0.0.1:${runtime.http.port}/intermediate.crl`);
    for (const host of ['localhost', 'vivarium.localhost', '[::1]']) {
      expect((await api({ host, path: '/root.crl?x', key: null })).status).toBe(200);
    }
    expect((await api({ path: '/root.crl' })).status).toBe(404);
    expect(await call('traffic.list', {})).toMatchObject({ kept: 1 });
    const list = join(engine.dataDir, 'root.crl');
    writeFileSync(list, await readDer(`${runtime.control.url}/root.crl`));
    const byRoot = ['-inform', 'DER', '-in', list, '-CAfile', runtime.caFile, '-noout'];
    expect((await run('openssl', ['crl', ...byRoot])).text).toContain('verify OK');
  });

  it('from before intermediates stays trusted, and gets one when it is renewed', async () => {
    const dataDir = temporaryFolder();
    writeFormerRoot(join(dataDir, 'ca'));
    const engine = await startEngine({ dataDir });
    const hostname = 'www.happypaws.test';
    const certificate = () => engine.call('certificates.get', { hostname });
    const before = await rootOf(engine);
    const leafBefore = await leafSeen(engine, hostname, before.pem);
    expect([before.intermediate, (await certificate()).chain]).toEqual([null, []]);
    await expect(leafSeen(engine, 'reversed-chain.break.vivarium.localhost', before.pem)).rejects.toThrow(
      /internal error/,
    );
    const { message, ...after } = await engine.call('ca.renew');
    expect(message).toContain('Clients that trust only the old one refuse those');
    // What the root has signed stays valid with either certificate, until it is renewed.
    for (const { pem } of [before, after]) {
      expect((await leafSeen(engine, hostname, pem)).serialNumber).toBe(leafBefore.serialNumber);
    }
    const { chain } = await engine.call('certificates.renew', { hostname });
    expect(chain).toEqual([after.intermediate?.pem]);
    expect((await leafSeen(engine, hostname, after.pem)).issuer).toContain('Vivarium intermediate');
    await expect(leafSeen(engine, hostname, before.pem)).rejects.toThrow('path length constraint exceeded');
    await leafSeen(engine, 'reversed-chain.break.vivarium.localhost', after.pem);
  });

  it('is not extended to a top-level domain, and the error names a suitable suffix', async ({ engine, call }) => {
    const before = await rootOf(engine);
    await expect(call('ca.extend', { suffix: 'com' })).rejects.toThrow(/top-level domain.*"acme\.com"/);
    expect(await rootOf(engine)).toEqual(before);
  });
});

describe('an extension to a name of the public DNS', () => {
  const NAME = 'api.vercel.com';

  it('needs confirm, and changes nothing without it', async ({ engine, call }) => {
    const before = await rootOf(engine);
    await expect(call('ca.extend', { suffix: NAME })).rejects.toThrow(
      /^api\.vercel\.com is a name of the public DNS, below "com", and may belong to others\. .*`ca\.extend \{"suffix":"api\.vercel\.com","confirm":true\}`\.$/,
    );
    expect(await rootOf(engine)).toEqual(before);
    expect(await call('ca.extend', { suffix: 'corp' })).toMatchObject({
      permittedSuffixes: expect.arrayContaining(['corp']) as unknown,
    });
  });

  it('asks in a terminal, and needs --yes elsewhere', async () => {
    const engine = await startEngine();
    const extend = (typed?: string, ...more: string[]) =>
      runHere(['ca', 'extend', NAME, ...more, '--data-dir', engine.dataDir], typed === undefined ? {} : { typed });
    const piped = await extend();
    expect([piped.code, piped.stderr]).toEqual([
      1,
      expect.stringMatching(
        /may belong to others\. A thief of .*all the same: .*ca extend api\.vercel\.com --yes --data-dir \S+\n$/,
      ),
    ]);
    expect(await extend('no\n')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /may belong to others\. .*\nDo it all the same\? \[no\] .*Nothing was changed\./s,
      ) as string,
    });
    expect((await rootOf(engine)).permittedSuffixes).not.toContain(NAME);
    expect(await extend('yes\n')).toMatchObject({ code: 0 });
    expect((await rootOf(engine)).permittedSuffixes).toContain(NAME);
    await engine.call('ca.retract', { suffix: NAME });
    expect(await extend(undefined, '--yes')).toMatchObject({ code: 0 });
  });

  it('is taken back from the root and from the trust stores', { timeout: COMMANDS_TIMEOUT_MS }, async () => {
    const home = temporaryFolder();
    vi.stubEnv('HOME', home);
    const database = join(home, '.pki/nssdb');
    await makeDatabase(database);
    const engine = await startEngine();
    const before = await rootOf(engine);
    const { fingerprint: wide, pem } = await engine.call('ca.extend', { suffix: NAME, confirm: true });
    await engine.call('ca.trust', { store: 'nss:user' });
    const { code, stdout } = await runHere(['ca', 'retract', NAME, '--data-dir', engine.dataDir]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^left +–$/m)]);
    const after = await rootOf(engine);
    expect(after.permittedSuffixes).toEqual(before.permittedSuffixes);
    expect(await listed(database)).toEqual([`Vivarium root ${start(after.fingerprint)} | C,,`]);
    expect((await leafSeen(engine, 'demo.vivarium.localhost', after.pem)).subject).toContain('demo');
    // By hand, where Vivarium does not look for it again.
    await importInto(database, 'by hand', pem);
    const status = await engine.call('ca.trustStatus');
    expect(status.find(({ store }) => store === 'nss:user')).toMatchObject({
      wider: [NAME],
      message: expect.stringContaining(`still permits ${NAME}, which the root no longer does.`),
    });
    const report = await engine.call('doctor.run', { areas: ['trust'] });
    expect(report.checks.find(({ id }) => id.includes('nss:user'))).toMatchObject({ status: 'warning' });
    expect(wide).not.toBe(after.fingerprint);
  });
});

describe('trust', () => {
  it('can be set and removed over the control port', { timeout: COMMANDS_TIMEOUT_MS }, async () => {
    const home = temporaryFolder();
    vi.stubEnv('HOME', home);
    await makeDatabase(join(home, '.pki/nssdb'));
    const engine = await startEngine();
    const status = async () => await engine.call('ca.trustStatus');
    expect((await status()).map(({ store, state }) => [store, state])).toContainEqual(['nss:user', 'untrusted']);
    expect(await engine.call('ca.trust', { store: 'nss:user' })).toMatchObject({
      state: 'trusted',
      handshake: 'verified',
      message: 'The root is trusted. Restart Chromium if it is running.',
    });
    await engine.call('ca.extend', { suffix: 'acme.com', confirm: true });
    expect((await status()).find(({ store }) => store === 'nss:user')?.state).toBe('other_root');
    expect(await engine.call('ca.untrust', { store: 'nss:user' })).toMatchObject({ state: 'untrusted' });
  });

  it('lists the available stores for an unknown one', async () => {
    const home = temporaryFolder();
    vi.stubEnv('HOME', home);
    const engine = await startEngine();
    await expect(engine.call('ca.trust', { store: 'keyring' })).rejects.toThrow(/there are: system, nss:user/);
  });
});
