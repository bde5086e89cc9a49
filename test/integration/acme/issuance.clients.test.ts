import * as acme from 'acme-client';
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Agent, get as getHttps } from 'node:https';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSite, serveFiles, type Site } from '../../support/acme/acme-site.ts';
import { track } from '../../support/engine.ts';
import type { TLSSocket } from 'node:tls';
import { freePort } from '../../support/ports.ts';
import { findTool } from '../../support/tools.ts';

const GUIDE = readFileSync('docs/acme.md', 'utf8');

/** The guide's block under a heading. */
function blockOf(heading: string): string {
  const [, block = ''] = new RegExp(`^### ${heading}\n[^]*?^\`\`\`\\w+\n([^]*?)^\`\`\``, 'm').exec(GUIDE) ?? [];
  return block;
}

/** A site with the zone of the guide, and the variables that its blocks use. */
async function openGuided(): Promise<Site & { variables: Record<string, string> }> {
  const site = await openSite();
  await site.engine.call('zones.create', { name: 'guide-acme.test' });
  await site.engine.call('records.put', { zone: 'guide-acme.test', name: '*', type: 'A', value: '127.0.0.1' });
  const variables = {
    VIVARIUM_ACME_DIRECTORY: site.directory,
    VIVARIUM_ACME_ROOT: site.rootFile,
    VIVARIUM_ACME_HTTP_PORT: String(site.httpPort),
    VIVARIUM_ACME_TLS_PORT: String(site.tlsPort),
  };
  expect([...GUIDE.matchAll(/^export (VIVARIUM_ACME_\w+)=/gm)].map(([, name]) => name)).toEqual(Object.keys(variables));
  return { ...site, variables };
}

const readCertificate = ({ folder }: Site, ...path: string[]) =>
  new X509Certificate(readFileSync(join(folder, ...path)));

/** The serial numbers in the revocation list that the leaves name. */
async function revoked({ engine, run, folder }: Pick<Site, 'engine' | 'run' | 'folder'>): Promise<string> {
  const list = await fetch(`http://127.0.0.1:${engine.app.runtime.http.port}/intermediate.crl`);
  writeFileSync(join(folder, 'leaves.crl'), Buffer.from(await list.arrayBuffer()));
  return run('openssl', ['crl', '-inform', 'DER', '-in', 'leaves.crl', '-noout', '-text']);
}

/** lego for `hostname`, by http-01 at the site's own port unless `way` says otherwise. */
function lego(
  site: Site,
  hostname: string,
  { command = ['run'], path = 'lego', way = [] as string[], eab = [] as string[] } = {},
) {
  const all = ['--server', site.directory, '-a', '-m', 'anna@guide-acme.test', '-d', hostname, '--path', path, ...eab];
  const proof = way.length > 0 ? way : ['--http', '--http.port', `:${site.httpPort}`];
  return site.run('lego', [...all, ...proof, ...command], { LEGO_CA_CERTIFICATES: site.rootFile });
}

const isMissing = (name: string): boolean => findTool(name) === null;

// Prints the clients' versions; some of them do not report their own.
beforeAll(() => {
  const packages = ['certbot', 'lego', 'dehydrated', 'uacme', 'caddy'];
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${Version}\n', ...packages], {
    encoding: 'utf8',
  });
  const { version } = createRequire(import.meta.url)('acme-client/package.json') as { version: string };
  process.stdout.write(`${stdout ?? ''}acme-client ${version} (npm)\n`);
});

describe('obtains, renews and revokes', () => {
  test.skipIf(isMissing('certbot'))('certbot', async () => {
    const site = await openGuided();
    const { run, directory, rootFile, variables } = site;
    await run('sh', ['-e', '-c', blockOf('certbot')], variables);
    const path = ['certbot', 'live', 'certbot.guide-acme.test', 'cert.pem'] as const;
    const first = readCertificate(site, ...path);
    expect(first.subjectAltName).toBe('DNS:certbot.guide-acme.test');
    const folders = ['--config-dir', 'certbot', '--work-dir', 'certbot', '--logs-dir', 'certbot', '--non-interactive'];
    const certbot = (...args: string[]) => run('certbot', [...args, ...folders], { REQUESTS_CA_BUNDLE: rootFile });
    await certbot('renew', '--force-renewal', '--no-random-sleep-on-renew');
    const second = readCertificate(site, ...path);
    expect(second.serialNumber).not.toBe(first.serialNumber);
    await certbot('revoke', '--server', directory, '--cert-name', 'certbot.guide-acme.test');
    expect(await revoked(site)).toContain(second.serialNumber);
  });

  test.skipIf(isMissing('lego'))('lego, by http-01 and tls-alpn-01', async () => {
    const site = await openGuided();
    const { run, tlsPort, variables } = site;
    await run('sh', ['-e', '-c', blockOf('lego')], variables);
    const name = 'lego.guide-acme.test';
    const first = readCertificate(site, 'lego', 'certificates', `${name}.crt`);
    await lego(site, name, { command: ['renew', '--days', '1000', '--no-random-sleep'] });
    const second = readCertificate(site, 'lego', 'certificates', `${name}.crt`);
    expect(second.serialNumber).not.toBe(first.serialNumber);
    await lego(site, name, { command: ['revoke'] });
    expect(await revoked(site)).toContain(second.serialNumber);
    await lego(site, 't.acme.test', { way: ['--tls', '--tls.port', `:${tlsPort}`] });
    expect(readCertificate(site, 'lego', 'certificates', 't.acme.test.crt').subjectAltName).toBe('DNS:t.acme.test');
    await expect(lego(site, 'example.com')).rejects.toThrow('vivarium ca extend example.com');
  });

  test.skipIf(isMissing('dehydrated'))('dehydrated', async () => {
    const site = await openSite();
    const { run, directory, folder, httpPort, rootFile } = site;
    await serveFiles(httpPort, join(folder, 'www'));
    const settings = {
      KEY_ALGO: 'prime256v1',
      ACCOUNT_KEYSIZE: '2048',
      CA: directory,
      CURL_OPTS: `--cacert ${rootFile}`,
      BASEDIR: folder,
      WELLKNOWN: join(folder, 'www'),
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}="${value}"\n`);
    writeFileSync(join(folder, 'config'), lines.join(''));
    const dehydrated = (...args: string[]) => run('dehydrated', ['-f', 'config', ...args]);
    await dehydrated('--register', '--accept-terms');
    await dehydrated('-c', '-d', 'd.acme.test');
    const path = ['certs', 'd.acme.test', 'cert.pem'] as const;
    const first = readCertificate(site, ...path);
    await dehydrated('-c', '-d', 'd.acme.test', '-x');
    const second = readCertificate(site, ...path);
    expect(second.serialNumber).not.toBe(first.serialNumber);
    await dehydrated('-r', join(folder, ...path));
    expect(await revoked(site)).toContain(second.serialNumber);
  });

  test('acme-client, of npm', async () => {
    const { engine, directory: directoryUrl, folder, httpPort, rootFile, run } = await openSite();
    const answers = new Map<string, string>();
    const server = createServer(({ url = '' }, response) => response.end(answers.get(url.split('/').at(-1) ?? '')));
    await new Promise<void>((resolve) => server.listen(httpPort, '127.0.0.1', resolve));
    const httpsAgent = new Agent({ ca: readFileSync(rootFile) });
    acme.axios.defaults.httpsAgent = httpsAgent;
    track(() => {
      httpsAgent.destroy();
      server.close();
    });
    const accountKey = await acme.crypto.createPrivateEcdsaKey();
    // Its default interval is 5 s.
    const client = new acme.Client({ directoryUrl, accountKey, backoffMin: 100 });
    const obtain = async (): Promise<X509Certificate> => {
      const [, csr] = await acme.crypto.createCsr({ altNames: ['n.acme.test'] });
      const chain = await client.auto({
        csr,
        email: 'anna@acme.test',
        termsOfServiceAgreed: true,
        challengePriority: ['http-01'],
        // It would connect to port 80 itself.
        skipChallengeVerification: true,
        challengeCreateFn: async (_authorization, { token }, answer) => void answers.set(token, answer),
        challengeRemoveFn: async (_authorization, { token }) => void answers.delete(token),
      });
      return new X509Certificate(chain);
    };
    const [first, second] = [await obtain(), await obtain()];
    expect(second.subjectAltName).toBe('DNS:n.acme.test');
    expect(second.serialNumber).not.toBe(first.serialNumber);
    await client.revokeCertificate(second.toString());
    expect(await revoked({ engine, folder, run })).toContain(second.serialNumber);
  });

  // It reads no trust store but the system's, so it gets a private one.
  test.skipIf(isMissing('uacme') || isMissing('unshare') || process.getuid?.() !== 0)('uacme', async () => {
    const site = await openSite();
    const { run, directory, folder, httpPort, rootFile } = site;
    await serveFiles(httpPort, join(folder, 'www'));
    const hook = '#!/bin/sh\n[ $2 = http-01 ] || exit 1\n[ $1 != begin ] || printf %s "$5" > "www/$4"\n';
    writeFileSync(join(folder, 'hook'), hook, { mode: 0o755 });
    const mount = `mount --bind ${rootFile} /etc/ssl/certs/ca-certificates.crt`;
    const uacme = (...args: string[]) =>
      run('unshare', [
        ...['-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh'],
        ...['uacme', '-c', 'uacme', '-a', directory, ...args],
      ]);
    await uacme('-y', 'new', 'anna@acme.test');
    await uacme('-h', './hook', 'issue', 'u.acme.test');
    const first = readCertificate(site, 'uacme', 'u.acme.test', 'cert.pem');
    await uacme('-f', '-h', './hook', 'issue', 'u.acme.test');
    const second = readCertificate(site, 'uacme', 'u.acme.test', 'cert.pem');
    expect(second.serialNumber).not.toBe(first.serialNumber);
    await uacme('revoke', 'uacme/u.acme.test/cert.pem');
    expect(await revoked(site)).toContain(second.serialNumber);
  });
});

describe('by DNS UPDATE', () => {
  async function openUpdated() {
    const site = await openGuided();
    const { engine, folder } = site;
    const { file } = await engine.call('zones.updateKey', { name: 'guide-acme.test' });
    writeFileSync(join(folder, 'guide-acme.key'), file);
    const paste = (heading: string) => {
      const lines = blockOf(heading).replaceAll('5380', String(engine.app.runtime.dns.port));
      return site.run('sh', ['-e', '-c', lines], site.variables);
    };
    return { ...site, paste };
  }

  test.skipIf(isMissing('lego'))('lego obtains a wildcard', async () => {
    const { paste, folder, ...site } = await openUpdated();
    await paste('lego with rfc2136');
    const path = ['lego', 'certificates', '_.guide-acme.test.crt'] as const;
    expect(readCertificate({ ...site, folder }, ...path).subjectAltName).toBe('DNS:*.guide-acme.test');
    // lego has removed its record.
    const records = await site.engine.call('records.list', { zone: 'guide-acme.test' });
    expect(records.map(({ name }) => name)).toEqual(['*']);
  });

  test.skipIf(isMissing('nsupdate'))('nsupdate writes a record', async () => {
    const { paste, engine } = await openUpdated();
    await paste('nsupdate');
    const listed = await engine.call('records.list', { zone: 'guide-acme.test', name: 'info' });
    expect(listed).toMatchObject([{ type: 'TXT', value: 'hello', ttl: 300 }]);
  });

  test.skipIf(isMissing('acme.sh') || isMissing('nsupdate'))('acme.sh obtains a wildcard', async () => {
    const { paste, engine } = await openUpdated();
    await paste('acme.sh with dns_nsupdate');
    expect(await engine.call('acme.orders')).toMatchObject([{ names: ['*.guide-acme.test'], status: 'valid' }]);
  });
});

describe('needs agreement between several perspectives', () => {
  test.skipIf(isMissing('lego'))('lego', async () => {
    const site = await openSite();
    const { engine } = site;
    const gone = `127.0.0.1:${await freePort()}`;
    const lastWalk = async () => {
      const [order] = await engine.call('acme.orders');
      const { walk } = await engine.call('acme.explain', { orderId: order?.id });
      return walk.flatMap(({ attempts }) => attempts.map(({ what, found }) => `${what}: ${found}`)).join('\n');
    };
    await engine.call('settings.update', { acmePerspectives: ['local', gone] });
    await lego(site, 'a.acme.test');
    expect(await lastWalk()).toMatch(/^perspective 1 \(Vivarium’s DNS\): .*GET http:\/\/a\.acme\.test.*status 200/m);
    expect(await lastWalk()).toContain('perspectives that agree: 1 of 2 agree, and 1 may disagree');
    await engine.call('settings.update', { acmePerspectives: ['local', gone, gone] });
    await expect(lego(site, 'b.acme.test')).rejects.toThrow(`During secondary validation, perspective 2 (${gone}): `);
    expect(await lastWalk()).toContain('perspectives that agree: 1 of 3 agree, and 1 may disagree');
  });
});

describe('is limited by address, according to the settings', () => {
  test.skipIf(isMissing('lego'))('lego', async () => {
    const site = await openSite();
    const { engine } = site;
    await engine.call('settings.update', { acmeLimits: true, acmeRates: ['newAccounts 1 PT2H'] });
    const ask = (path: string) => lego(site, 'l.acme.test', { path });
    await ask('first');
    await expect(ask('second')).rejects.toThrow(
      /too many new accounts from the address \((127\.0\.0\.1|::1)\): 1 in 2 h/,
    );
    await engine.call('acme.resetLimits');
    await ask('second');
  });
});

describe('opens an account bound to an external account', () => {
  async function openBound() {
    const site = await openSite();
    await site.engine.call('settings.update', { acmeExternalAccounts: true });
    const made = await site.engine.call('acme.createExternalKey', { name: 'Web shop' });
    const { id, hmacKey } = made as { id: string; hmacKey: string };
    const states = async () => (await site.engine.call('acme.externalKeys')).map(({ state }) => state);
    return { ...site, id, hmacKey, states };
  }

  test.skipIf(isMissing('certbot'))('certbot', async () => {
    const { run, directory, rootFile, id, hmacKey, states } = await openBound();
    const folders = ['--config-dir', 'config', '--work-dir', 'work', '--logs-dir', 'logs', '--non-interactive'];
    const signUp = (...args: string[]) => {
      const all = ['register', '--server', directory, '--agree-tos', '-m', 'anna@acme.test', ...folders, ...args];
      return run('certbot', all, { REQUESTS_CA_BUNDLE: rootFile });
    };
    await expect(signUp()).rejects.toThrow('requires external account binding');
    const wrong = Buffer.alloc(32).toString('base64url');
    await expect(signUp('--eab-kid', id, '--eab-hmac-key', wrong)).rejects.toThrow('was not made with');
    await signUp('--eab-kid', id, '--eab-hmac-key', hmacKey);
    expect(await states()).toEqual(['used']);
  });

  test.skipIf(isMissing('lego'))('lego, and refuses a revoked key', async () => {
    const { id, hmacKey, states, ...site } = await openBound();
    const { engine } = site;
    const signUp = (kid: string, hmac: string) =>
      lego(site, 'l.acme.test', { path: kid, eab: ['--eab', '--kid', kid, '--hmac', hmac] });
    const second = await engine.call('acme.createExternalKey');
    await engine.call('acme.revokeExternalKey', { id: second.id });
    await expect(signUp(second.id, second.hmacKey)).rejects.toThrow(`The external key ${second.id} is revoked`);
    await signUp(id, hmacKey);
    expect(await states()).toEqual(['revoked', 'used']);
  });
});

describe('lego, for a hostname that Vivarium serves', () => {
  async function openServed(): Promise<Site & { projectId: string }> {
    const site = await openSite();
    const { engine } = site;
    const { id: projectId } = await engine.call('projects.create', { name: 'Shop', plan: 'pro' });
    await engine.call('domains.attach', { projectId, hostname: 'shop.acme.test', local: true });
    return { ...site, projectId };
  }

  const obtain = (site: Site, port: number) =>
    lego(site, 'shop.acme.test', { way: ['--http', '--http.port', `127.0.0.1:${port}`] });

  test.skipIf(isMissing('lego'))('reaches the client through the proxy, and not at the client’s own port', async () => {
    const client = await freePort();
    const behind = await openServed();
    // lego checks the Host header.
    const target = { kind: 'upstream', url: `http://127.0.0.1:${client}`, host: 'keep' };
    await behind.engine.call('projects.update', { projectId: behind.projectId, target });
    await obtain(behind, client);
    const orders = await behind.engine.call('acme.orders');
    const explained = await behind.engine.call('acme.explain', { orderId: orders[0]?.id });
    const ports = explained.walk.flatMap(({ attempts }) => attempts.flatMap(({ request }) => request?.port ?? []));
    expect(new Set(ports)).toEqual(new Set([behind.engine.app.runtime.http.port]));
    const beside = await openServed();
    await expect(obtain(beside, beside.httpPort)).rejects.toThrow('was answered with status 404');
    await beside.engine.call('breaks.start', { entry: 'ca.part-unavailable', parameters: { part: 'all' } });
    await expect(obtain(beside, beside.httpPort)).rejects.toThrow('down for maintenance');
  });
});

describe('the guide', () => {
  test.skipIf(isMissing('caddy'))('has a Caddyfile that serves until CAA forbids the renewal', async () => {
    const site = await openGuided();
    const { engine, folder, tlsPort, rootFile, variables } = site;
    writeFileSync(join(folder, 'Caddyfile'), blockOf('Caddy'));
    const caddy = spawn('caddy', ['run'], {
      cwd: folder,
      env: {
        ...{ PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
        ...variables,
        // Certificates with a lifetime of six seconds, so that Caddy renews them after four.
        VIVARIUM_ACME_DIRECTORY: site.directory.replace('classic', 'tlsserver@134ms'),
      },
      stdio: 'ignore',
    });
    track(() => void caddy.kill('SIGKILL'));
    const ca = readFileSync(rootFile);
    /** The answer and the certificate's serial number, or why the handshake failed. */
    const ask = () =>
      new Promise<{ said: string; serial?: string }>((resolve) => {
        const options = { host: '127.0.0.1', port: tlsPort, servername: 'www.guide-acme.test', ca, agent: false };
        getHttps({ ...options, headers: { host: 'www.guide-acme.test' } }, (response) => {
          const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
          response.on('data', (chunk) => resolve({ said: String(chunk), serial: serialNumber }));
        }).on('error', (error: NodeJS.ErrnoException) => resolve({ said: error.code ?? error.message }));
      });
    let first: string | undefined;
    const serving = async () => {
      const { said, serial } = await ask();
      first ??= serial;
      return said;
    };
    await expect.poll(serving, { timeout: 60_000 }).toBe('It works.');
    // Caddy has renewed it by itself.
    const isRenewed = async () => {
      const { said, serial } = await ask();
      return said === 'It works.' && serial !== first;
    };
    await expect.poll(isRenewed, { timeout: 60_000, interval: 200 }).toBe(true);
    const value = '0 issue "ca.example"';
    // The wildcard does not cover a name that has a record of its own.
    await engine.call('records.put', { zone: 'guide-acme.test', name: 'www', type: 'A', value: '127.0.0.1' });
    await engine.call('records.put', { zone: 'guide-acme.test', name: 'www', type: 'CAA', value });
    // The CA's last answer about CAA counts for eight hours.
    await engine.call('clock.advance', { by: 'PT8H' });
    await expect.poll(async () => (await ask()).said, { timeout: 60_000, interval: 200 }).toBe('CERT_HAS_EXPIRED');
    // The reason, as on the page.
    const orders = await engine.call('acme.orders');
    const refused = orders.find(({ status }) => status === 'invalid');
    const explained = await engine.call('acme.explain', { orderId: refused?.id });
    expect(explained.message).toContain('The record www.guide-acme.test. CAA 0 issue "ca.example"');
    expect(orders.filter(({ status }) => status === 'valid').length).toBeGreaterThanOrEqual(2);
  });
});
