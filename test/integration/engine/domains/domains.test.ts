import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Certificate } from '../../../../main/contract/certificates.ts';
import type { DoctorCheck } from '../../../../main/contract/doctor.ts';
import type { Project } from '../../../../main/contract/projects.ts';
import { runHere } from '../../../support/cli-io.ts';
import { type DomainsEngine, startDomainsEngine, TARGET, ZONE } from '../../../support/domains-engine.ts';
import { startEngine, track } from '../../../support/engine.ts';

const HOST = `www.${ZONE}`;

interface ExportedDer {
  base64: string;
}

/** An engine that serves the hostname over HTTPS. */
async function startServing(): Promise<DomainsEngine> {
  const engine = await startDomainsEngine();
  await engine.call('domains.attach', { projectId: engine.projectId, hostname: HOST });
  await engine.put('www', 'CNAME', TARGET);
  await engine.verify(HOST);
  return engine;
}

/** Another project that may have domains. */
async function addProject(engine: DomainsEngine, more: object = {}): Promise<Project> {
  const project = (await engine.call('projects.create', { name: 'Other', plan: 'pro', ...more })) as Project;
  await engine.call('deploys.create', { projectId: project.id });
  return project;
}

/** The code of a refused call. */
const refusal = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'accepted',
    (error: { code: string }) => error.code,
  );

describe('a custom domain', () => {
  it('becomes available over HTTPS once it is attached and has its record', async () => {
    const engine = await startDomainsEngine();
    const attached = await engine.call('domains.attach', { projectId: engine.projectId, hostname: 'WWW.Acme.TEST.' });
    expect(attached).toMatchObject({
      hostname: HOST,
      kind: 'subdomain',
      state: 'pending',
      certificate: { state: 'none' },
      instructions: [{ type: 'CNAME', name: 'www', value: TARGET, ttl: 3600 }],
      serving: { http: false, https: false },
    });
    expect(await engine.verify(HOST)).toMatchObject({ state: 'pending', checks: [{ code: 'no_record' }] });
    expect(await engine.curl(HOST)).toContain('unrecognized name');
    await engine.put('www', 'CNAME', TARGET);
    expect(await engine.verify(HOST)).toMatchObject({
      state: 'verified',
      certificate: { state: 'issued' },
      serving: { http: true, https: true },
    });
    expect(await engine.curl(HOST)).toBe('[]');
    expect((await engine.api({ host: HOST, key: engine.key })).status).toBe(200);
    const [certificate] = (await engine.call('certificates.list')) as Certificate[];
    expect(certificate).toMatchObject({ hostname: HOST, sans: [HOST], state: 'issued' });
  });

  it('waits for its certificate while CAA forbids it, and gets it when CAA is fixed', async () => {
    const engine = await startDomainsEngine();
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: HOST });
    await engine.put('www', 'CNAME', TARGET);
    const { id } = await engine.put('@', 'CAA', '0 issue "letsencrypt.org"');
    const blocked = await engine.verify(HOST);
    expect(blocked).toMatchObject({
      state: 'verified',
      certificate: { state: 'pending', reason: 'caa_forbids' },
      serving: { http: true, https: false },
    });
    expect(blocked.checks.find(({ code }) => code === 'caa_forbids')).toMatchObject({ outcome: 'failed' });
    expect(await engine.curl(HOST)).toContain('unrecognized name');
    expect(await engine.call('caa.explain', { hostname: HOST })).toMatchObject({ verdict: 'forbidden', foundAt: ZONE });
    await engine.call('settings.update', { propagation: 'PT1M' });
    await engine.call('records.remove', { id });
    expect((await engine.get(HOST)).certificate.state).toBe('pending');
    // As soon as the change is visible, 4 minutes before the next attempt.
    await engine.call('clock.advance', { by: 'PT1M' });
    await expect.poll(async () => (await engine.get(HOST)).certificate.state).toBe('issued');
    expect(await engine.curl(HOST)).toBe('[]');
    // So does a change of the identity that CAA is checked for.
    const shop = `shop.${ZONE}`;
    await engine.call('settings.update', { propagation: 'PT0S' });
    await engine.put('@', 'CAA', '0 issue "letsencrypt.org"');
    await engine.put('shop', 'CNAME', TARGET);
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: shop });
    expect((await engine.verify(shop)).certificate.state).toBe('pending');
    await engine.call('settings.update', { caaIdentity: { domain: 'letsencrypt.org' } });
    await expect.poll(async () => (await engine.get(shop)).certificate.state).toBe('issued');
  });

  it('stops being served before its removal returns, including on open connections', async () => {
    const engine = await startServing();
    await engine.call('domains.setPrimary', { projectId: engine.projectId, hostname: HOST });
    const { port } = engine.app.runtime.http;
    const socket = connect(port, '127.0.0.1');
    track(() => void socket.destroy());
    socket.write(`GET /v1/pets HTTP/1.1\r\nHost: ${HOST}:${port}\r\nAuthorization: Bearer ${engine.key}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('200 OK');
    const closed = once(socket, 'close');
    await engine.call('domains.remove', { hostname: HOST });
    expect((await engine.api({ host: HOST, key: engine.key })).status).toBe(404);
    await closed;
    expect(await engine.curl(HOST)).toContain('unrecognized name');
    expect(await refusal(engine.get(HOST))).toBe('not_found');
    expect(await engine.call('certificates.list')).toEqual([]);
    expect(((await engine.call('projects.get', { projectId: engine.projectId })) as Project).primary).toBeNull();
  });

  it('is answered with the reason if it is not served', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    const told = async () => {
      const { status, json } = await engine.api({ host: HOST });
      return [status, (json as { message: string }).message];
    };
    expect(await told()).toEqual([404, expect.stringContaining(`No project has the hostname ${HOST}`)]);
    await engine.call('domains.attach', { projectId, hostname: HOST });
    expect(await told()).toEqual([404, expect.stringContaining('its DNS does not point here yet')]);
    await engine.put('www', 'CNAME', TARGET);
    await engine.verify(HOST);
    await engine.call('projects.update', { projectId, plan: 'free' });
    expect(await told()).toEqual([404, expect.stringContaining('the project "Acme" and suspended')]);
  });

  it('is suspended by a change of plan, and restored by the next', async () => {
    const engine = await startServing();
    const { projectId } = engine;
    await engine.call('projects.update', { projectId, plan: 'free' });
    expect(await engine.get(HOST)).toMatchObject({ state: 'suspended', serving: { http: false, https: false } });
    expect(await engine.curl(HOST)).toContain('unrecognized name');
    await engine.call('projects.update', { projectId, plan: 'pro' });
    expect(await engine.get(HOST)).toMatchObject({ state: 'verified', serving: { http: true, https: true } });
    expect(await engine.curl(HOST)).toBe('[]');
  });

  it('redirects over both schemes or to HTTPS, and refuses loops', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    for (const [hostname, name, type] of [
      [HOST, 'www', 'CNAME'],
      [ZONE, '@', 'ALIAS'],
    ] as const) {
      await engine.call('domains.attach', { projectId, hostname });
      await engine.put(name, type, TARGET);
      expect(await engine.verify(hostname)).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
    }
    const redirect = (from: string, to: string) => ({ from, to });
    const set = (...redirects: unknown[]) => engine.call('domains.setRedirects', { projectId, redirects });
    expect(await refusal(set(redirect(HOST, HOST)))).toBe('invalid_request');
    expect(await refusal(set(redirect(HOST, ZONE), redirect(ZONE, HOST)))).toBe('invalid_request');
    expect(await refusal(set(redirect('other.test', ZONE)))).toBe('invalid_request');
    await set(redirect(HOST, ZONE));
    const { http, https } = engine.app.runtime;
    const plain = await engine.api({ host: HOST, path: '/v1/pets?limit=2' });
    expect([plain.status, plain.headers.location]).toEqual([301, `http://${ZONE}:${http.port}/v1/pets?limit=2`]);
    expect(await engine.curl(HOST, '/v1/pets?limit=2', '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}')).toBe(
      `301 https://${ZONE}:${https.port}/v1/pets?limit=2`,
    );
    const project = (await engine.call('domains.setPrimary', { projectId, hostname: ZONE })) as Project;
    expect(project).toMatchObject({
      primary: ZONE,
      redirects: [{ from: HOST, to: ZONE, status: 301 }],
      baseUrl: { production: `http://${ZONE}:${http.port}/v1` },
    });
    await set({ from: ZONE, to: `https://${ZONE}` });
    expect((await engine.api({ host: ZONE, path: '/v1/pets' })).headers.location).toBe(
      `https://${ZONE}:${https.port}/v1/pets`,
    );
    expect(await engine.curl(ZONE)).toBe('[]');
    await engine.call('domains.remove', { hostname: ZONE });
    expect(await engine.call('projects.get', { projectId })).toMatchObject({ redirects: [] });
  });

  it.each(['--http1.1', '--http2'])('is not served on a connection of another name, over %s', async (version) => {
    const engine = await startDomainsEngine();
    for (const name of ['www', 'shop']) {
      await engine.call('domains.attach', { projectId: engine.projectId, hostname: `${name}.${ZONE}` });
      await engine.put(name, 'CNAME', TARGET);
      await engine.verify(`${name}.${ZONE}`);
    }
    const asking = (host: string) =>
      engine.curl(HOST, '/v1/pets', version, '-H', `Host: ${host}`, '-o', '/dev/null', '-w', '%{http_code}');
    expect(await asking(HOST)).toBe('200');
    expect(await asking(`shop.${ZONE}`)).toBe('421');
    expect(await asking('acme.vivarium.localhost')).toBe('421');
    expect(await asking(`gone.${ZONE}`)).toBe('404');
  });

  it('is removed with its project, and its hostname is free again', async () => {
    const engine = await startServing();
    const { projectId } = engine;
    await engine.call('projects.remove', { projectId });
    expect(await engine.call('domains.list')).toEqual([]);
    expect((await engine.api({ host: HOST, key: engine.key })).status).toBe(404);
    expect(await engine.curl(HOST)).toContain('unrecognized name');
    const other = await addProject(engine);
    await engine.call('domains.attach', { projectId: other.id, hostname: HOST });
    expect(await engine.verify(HOST)).toMatchObject({ projectId: other.id, certificate: { state: 'issued' } });
  });

  it('keeps its certificate across a restart', async () => {
    const engine = await startDomainsEngine();
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: HOST });
    await engine.put('www', 'CNAME', TARGET);
    const before = await engine.verify(HOST);
    const { serial } = (await engine.call('certificates.get', { hostname: HOST })) as Certificate;
    await engine.stop();
    const again = await startEngine({ dataDir: engine.dataDir });
    expect(await again.call('domains.get', { hostname: HOST })).toEqual(before);
    expect(await again.call('certificates.get', { hostname: HOST })).toMatchObject({ serial });
    expect((await again.api({ host: HOST, key: engine.key })).status).toBe(200);
  });
});

describe('an exported certificate', () => {
  it('is the served one, in PEM and in DER; and the root is the one in its file', async () => {
    const engine = await startDomainsEngine();
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: HOST });
    await expect(engine.call('certificates.export', { hostname: HOST })).rejects.toMatchObject({ code: 'not_found' });
    await engine.put('www', 'CNAME', TARGET);
    await engine.verify(HOST);
    const { fingerprint, pem, chain } = (await engine.call('certificates.get', { hostname: HOST })) as Certificate;
    const { intermediate } = (await engine.call('ca.get')) as { intermediate: { pem: string } };
    expect(chain).toEqual([intermediate.pem]);
    expect(await engine.call('certificates.export', { hostname: 'WWW.acme.test.' })).toEqual({
      format: 'pem',
      fileName: `${HOST}.pem`,
      text: pem + intermediate.pem,
    });
    const exported = (await engine.call('certificates.export', { hostname: HOST, format: 'der' })) as ExportedDer;
    expect(exported).toMatchObject({ format: 'der', fileName: `${HOST}.der` });
    expect(new X509Certificate(Buffer.from(exported.base64, 'base64')).fingerprint256).toBe(fingerprint);
    const root = (await engine.call('ca.export')) as { text: string };
    expect(root).toMatchObject({ format: 'pem', fileName: 'vivarium-root.pem' });
    expect(root.text).toBe(readFileSync(engine.app.runtime.caFile, 'utf8'));
    const { base64 } = (await engine.call('ca.export', { format: 'der' })) as ExportedDer;
    expect(new X509Certificate(Buffer.from(base64, 'base64')).fingerprint256).toBe(
      new X509Certificate(root.text).fingerprint256,
    );
  });
});

describe('the root’s name constraints', () => {
  it('prevent a certificate until the root is extended', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    await engine.call('zones.create', { name: 'acme.com' });
    await engine.call('records.put', { zone: 'acme.com', name: 'www', type: 'CNAME', value: TARGET });
    await engine.call('domains.attach', { projectId, hostname: 'www.acme.com' });
    const held = await engine.verify('www.acme.com');
    expect(held.certificate).toMatchObject({ state: 'pending', reason: 'suffix_not_permitted' });
    expect(held.checks.find(({ code }) => code === 'suffix_not_permitted')?.fix).toContain('"acme.com"');
    await engine.call('ca.extend', { suffix: 'acme.com', confirm: true });
    expect(await engine.get('www.acme.com')).toMatchObject({
      certificate: { state: 'issued' },
      serving: { https: true },
    });
    expect(await engine.curl('www.acme.com')).toBe('[]');
    await engine.call('ca.retract', { suffix: 'acme.com' });
    expect(await engine.get('www.acme.com')).toMatchObject({
      state: 'verified',
      certificate: { state: 'pending', reason: 'suffix_not_permitted' },
      serving: { https: false },
    });
  });
});

describe('the settings of issuance', () => {
  it('are merged, and set the identity and the delay of the CAA check', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    expect(
      await engine.call('settings.update', { caaIdentity: { domain: 'LetsEncrypt.org' }, issuanceDelay: 'PT2M' }),
    ).toMatchObject({ caaIdentity: { domain: 'letsencrypt.org', method: 'http-01' }, issuanceDelay: 'PT2M' });
    expect(await refusal(engine.call('settings.update', { issuanceDelay: 'P3D' }))).toBe('invalid_request');
    await engine.call('domains.attach', { projectId, hostname: HOST });
    await engine.put('www', 'CNAME', TARGET);
    await engine.put('@', 'CAA', '0 issue "letsencrypt.org"');
    expect((await engine.verify(HOST)).certificate).toMatchObject({ state: 'pending', reason: 'issuance_pending' });
    await engine.call('clock.advance', { by: 'PT2M' });
    expect((await engine.get(HOST)).certificate.state).toBe('issued');
  });
});

describe('a wildcard', () => {
  it('is available over HTTPS for every name one label below, after attach and issuewild', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    const wild = `*.shop.${ZONE}`;
    expect(await engine.call('domains.attach', { projectId, hostname: '*.Shop.Acme.Test.' })).toMatchObject({
      hostname: wild,
      kind: 'subdomain',
      instructions: [{ type: 'CNAME', name: '*.shop', value: TARGET }],
    });
    expect(await engine.verify(wild)).toMatchObject({ state: 'pending', checks: [{ code: 'no_record' }] });
    await engine.put('*.shop', 'CNAME', TARGET);

    // `issue` is met, but for a wildcard `issuewild` replaces it (RFC 8659 §4.3).
    await engine.put('shop', 'CAA', '0 issue "vivarium.localhost"');
    const { id } = await engine.put('shop', 'CAA', '0 issuewild "other.example"');
    expect(await engine.verify(wild)).toMatchObject({
      state: 'verified',
      certificate: { state: 'pending', reason: 'caa_forbids' },
    });
    await engine.call('records.update', { id, value: '0 issuewild "vivarium.localhost"' });
    const verified = await engine.verify(wild);
    expect(verified).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
    expect(verified.checks.every(({ outcome }) => outcome === 'ok')).toBe(true);
    expect(await engine.call('certificates.get', { hostname: wild })).toMatchObject({ sans: [wild] });

    expect(await engine.curl(`www.shop.${ZONE}`)).toBe('[]');
    expect(await engine.curl(`anything.shop.${ZONE}`)).toBe('[]');
    expect(await engine.curl(`shop.${ZONE}`)).toContain('unrecognized name');
    expect(await engine.curl(`a.www.shop.${ZONE}`)).toContain('unrecognized name');
    expect((await engine.api({ host: `www.shop.${ZONE}`, key: engine.key })).status).toBe(200);
    const checks = (await engine.call('doctor.run')) as { checks: { id: string; status: string }[] };
    expect(checks.checks.find(({ id }) => id === `domains.${wild}`)).toMatchObject({ status: 'ok' });

    // A separate domain takes precedence, and a wildcard is no address to show.
    await engine.call('domains.attach', { projectId, hostname: `own.shop.${ZONE}` });
    await engine.put('own.shop', 'CNAME', TARGET);
    expect(await engine.verify(`own.shop.${ZONE}`)).toMatchObject({ certificate: { state: 'issued' } });
    expect(await refusal(engine.call('domains.setPrimary', { projectId, hostname: wild }))).toBe('invalid_request');
    await engine.call('domains.remove', { hostname: wild });
    expect(await engine.curl(`www.shop.${ZONE}`)).toContain('unrecognized name');
    expect(await engine.curl(`own.shop.${ZONE}`)).toBe('[]');
  });

  it('is attached with its record in one call', async () => {
    const engine = await startDomainsEngine();
    const attached = await engine.call('domains.attach', {
      projectId: engine.projectId,
      hostname: `*.${ZONE}`,
      local: true,
    });
    expect(attached).toMatchObject({ state: 'verified', url: `https://www.${ZONE}` });
    expect(await engine.curl(`any.${ZONE}`)).toBe('[]');
  });

  it('is shown, reached and examined at a name that is not attached itself', async () => {
    vi.stubEnv('VIVARIUM_COMMAND', 'vivarium');
    onTestFinished(() => void vi.unstubAllEnvs());
    const engine = await startDomainsEngine();
    const wild = `*.${ZONE}`;
    const attach = (hostname: string) =>
      runHere(['domains', 'attach', 'acme', hostname, '--local', '--data-dir', engine.dataDir]);
    expect(await attach(`www.${ZONE}`)).toMatchObject({ code: 0 });
    const { code, stdout } = await attach(wild);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`https://app.${ZONE}  Open it: vivarium open app.${ZONE}`),
    ]);
    expect(await engine.get(wild)).toMatchObject({ example: `app.${ZONE}` });
    const snippets = await engine.call('reach.snippets', { hostname: wild });
    expect(snippets).toMatchObject({ hostname: `app.${ZONE}`, secure: true });
    // A name of its own that is not verified is served by the wildcard meanwhile, which is no fault of the engine.
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: `bad.${ZONE}` });
    const { checks } = (await engine.call('doctor.run', { areas: ['domains'] })) as { checks: DoctorCheck[] };
    expect(checks.find(({ id }) => id === `domains.${wild}`)).toMatchObject({ status: 'ok' });
    expect(checks.find(({ id }) => id === `domains.bad.${ZONE}`)).toMatchObject({
      status: 'warning',
      evidence: expect.arrayContaining([`${wild} serves it over HTTPS.`]),
    });
  });
});

describe('revocation', () => {
  it('puts the certificate on the list, where it stays after a renewal', async () => {
    const engine = await startServing();
    const { serial } = (await engine.call('certificates.get', { hostname: HOST })) as Certificate;
    const list = async () =>
      Buffer.from(await (await fetch(`${engine.app.runtime.control.url}/intermediate.crl`)).arrayBuffer()).toString(
        'hex',
      );
    expect(await list()).not.toContain(serial.toLowerCase());
    const revoke = () => engine.call('certificates.revoke', { hostname: HOST, reason: 'keyCompromise' });
    expect(await revoke()).toMatchObject({ serial, revoked: { reason: 'keyCompromise' } });
    expect(await refusal(revoke())).toBe('conflict');
    expect(await list()).toContain(serial.toLowerCase());
    // As at every CA, the server keeps using it until it is replaced.
    expect(await engine.curl(HOST)).toBe('[]');
    const renewed = (await engine.call('certificates.renew', { hostname: HOST })) as Certificate;
    expect(renewed).not.toHaveProperty('revoked');
    expect(await list()).toContain(serial.toLowerCase());
    expect(await list()).not.toContain(renewed.serial.toLowerCase());
  });
});

describe('a server in front', () => {
  it('is accepted if a request through it reaches the platform, and is otherwise named', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    const platform = engine.app.runtime.http.port;
    const front = createServer((request, response) => {
      const { headers, url } = request;
      get({ host: '127.0.0.1', port: platform, path: url, headers }, (answer) => answer.pipe(response));
    });
    track(() => void front.close());
    await engine.call('domains.attach', { projectId, hostname: HOST });
    await engine.put('edge', 'A', '127.0.0.2');
    await engine.put('www', 'CNAME', `edge.${ZONE}`);
    expect(await engine.verify(HOST)).toMatchObject({
      state: 'misconfigured',
      checks: [
        { code: 'wrong_target', outcome: 'failed' },
        { code: 'not_served', outcome: 'failed', found: '127.0.0.2: no answer' },
      ],
    });
    front.listen(platform, '127.0.0.2');
    await once(front, 'listening');
    expect(await engine.verify(HOST)).toMatchObject({
      state: 'verified',
      certificate: { state: 'issued' },
      checks: [{ code: 'proxied', outcome: 'warning', found: '127.0.0.2: the platform' }, { code: 'caa_forbids' }],
    });
    expect(await engine.call('traffic.list')).toMatchObject({ items: [] });

    // The CAA records of the CNAME's target count, as for every CA (RFC 8659 §3).
    await engine.call('domains.remove', { hostname: HOST });
    await engine.call('domains.attach', { projectId, hostname: HOST });
    await engine.put('edge', 'CAA', '0 issue ";"');
    expect(await engine.verify(HOST)).toMatchObject({
      state: 'verified',
      certificate: { state: 'pending', reason: 'caa_on_target' },
    });
  });
});

describe('a domain below another project’s', () => {
  it('gets a warning until a TXT record permits it', async () => {
    const engine = await startDomainsEngine();
    const other = await addProject(engine);
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: ZONE });
    await engine.call('domains.attach', { projectId: other.id, hostname: HOST });
    await engine.put('www', 'CNAME', TARGET);
    const codes = async () => (await engine.verify(HOST)).checks.map(({ code, outcome }) => `${code} ${outcome}`);
    expect(await codes()).toEqual(expect.arrayContaining(['claimed_elsewhere warning', 'txt_missing warning']));
    await engine.put('_vivarium', 'TXT', `${HOST}=${other.id}`);
    expect(await codes()).toContain('txt_missing ok');
    expect(await codes()).not.toContain('claimed_elsewhere warning');
  });
});

describe('a takeover', () => {
  it('assigns a dangling CNAME to the next project, unless the persona requires a record that only the owner can add', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    const other = await addProject(engine);
    /** With a key of the first project. */
    const status = () => engine.curl(HOST, '/v1/pets', '-o', '/dev/null', '-w', '%{http_code}');
    await engine.put('*', 'CNAME', TARGET);
    await engine.call('domains.attach', { projectId, hostname: HOST });
    await engine.verify(HOST);
    expect(await status()).toBe('200');
    await engine.call('domains.remove', { hostname: HOST });
    await engine.call('domains.attach', { projectId: other.id, hostname: HOST });
    expect(await engine.verify(HOST)).toMatchObject({ state: 'verified', projectId: other.id });
    // The request reaches the other project, which does not know the key.
    expect(await status()).toBe('401');
    await engine.call('domains.remove', { hostname: HOST });

    for (const project of [projectId, other.id]) {
      await engine.call('projects.update', { projectId: project, persona: 'github-pages' });
    }
    const local = { projectId, hostname: HOST, local: true };
    const { state, steps } = (await engine.call('domains.attach', local)) as {
      state: string;
      steps: { step: string }[];
    };
    expect([state, steps.map(({ step }) => step)]).toEqual([
      'verified',
      ['zone', 'record', 'record', 'verified', 'certificate'],
    ]);
    await expect(engine.call('domains.attach', { projectId: other.id, hostname: HOST })).rejects.toThrow(
      `GitHub Pages: “The custom domain \`${HOST}\` is already taken.”`,
    );
    await engine.call('domains.remove', { hostname: HOST });
    await engine.call('domains.attach', { projectId: other.id, hostname: HOST });
    const refused = await engine.verify(HOST);
    expect(refused).toMatchObject({
      state: 'misconfigured',
      persona: { id: 'github-pages', state: 'DNS check unsuccessful' },
      serving: { http: false, https: false },
    });
    expect(refused.checks.find(({ outcome }) => outcome === 'failed')).toMatchObject({
      code: 'claimed_elsewhere',
      words: `You must verify your domain ${HOST} before being able to use it.`,
    });
    const challenge = ((await engine.call('records.list', { zone: ZONE })) as { id: string; type: string }[]).find(
      ({ type }) => type === 'TXT',
    );
    await engine.call('records.remove', { id: challenge?.id });
    expect(await engine.verify(HOST)).toMatchObject({ state: 'verified' });
  });

  it('is refused if Netlify reserves the names below a domain; an unknown persona is refused too', async () => {
    const engine = await startDomainsEngine();
    const other = await addProject(engine, { persona: 'netlify' });
    await engine.call('domains.attach', { projectId: engine.projectId, hostname: ZONE });
    await expect(engine.call('domains.attach', { projectId: other.id, hostname: HOST })).rejects.toThrow(
      /Netlify: “must be unique” "acme\.test" is attached to the project "Acme"/,
    );
    await expect(engine.call('projects.update', { projectId: other.id, persona: 'heroku' })).rejects.toThrow(/persona/);
    expect(await engine.call('projects.get', { projectId: other.id })).toMatchObject({ persona: 'netlify' });
  });
});

describe('propagation', () => {
  it('is reported with its time, and ends automatically', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    await engine.call('settings.update', { propagation: 'PT1H' });
    await engine.call('domains.attach', { projectId, hostname: HOST });
    await engine.put('www', 'CNAME', TARGET);
    const waiting = await engine.verify(HOST);
    expect(waiting).toMatchObject({ state: 'pending', checks: [{ code: 'not_propagated', outcome: 'failed' }] });
    await engine.call('clock.advance', { by: 'PT1H' });
    expect(await engine.get(HOST)).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
  });
});

describe('attaching', () => {
  it('is refused with the code of the violated rule', async () => {
    const engine = await startDomainsEngine();
    const { projectId } = engine;
    const attach = (hostname: string, project = projectId) =>
      refusal(engine.call('domains.attach', { projectId: project, hostname }));
    const other = (await engine.call('projects.create', { name: 'Other', plan: 'pro' })) as Project;
    const free = (await engine.call('projects.create', { name: 'Free' })) as Project;
    expect(await attach(HOST)).toBe('accepted');
    expect(await Promise.all([attach(HOST), attach(HOST, other.id)])).toEqual(['in_use', 'in_use']);
    expect(await attach('a.acme.test', free.id)).toBe('plan_required');
    expect(await attach('a.acme.test', other.id)).toBe('deploy_required');
    expect(await attach('a_b.acme.test')).toBe('hostname_invalid');
    expect(await attach('shop.vivarium.localhost')).toBe('hostname_reserved');
    expect(await attach('a.acme.test', 'prj_none')).toBe('not_found');
  });
});
