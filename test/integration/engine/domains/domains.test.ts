import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, get as getOverHttp } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { domainsTest as it, ISSUED, pending, startDomainsEngine, TARGET, ZONE } from '../../../support/engine-test.ts';
import type { DomainsEngine } from '../../../support/engine-test.ts';
import type { Project } from '../../../../main/contract/projects.ts';
import { runHere } from '../../../support/cli-io.ts';
import { track, restarted } from '../../../support/engine.ts';

const HOST = `www.${ZONE}`;

/** Another project that may have domains. */
async function addProject(engine: DomainsEngine, more: object = {}): Promise<Project> {
  const project = await engine.call('projects.create', { name: 'Other', plan: 'pro', ...more });
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
  it('becomes available over HTTPS once it is attached and has its record', async ({ engine }) => {
    const { call, api, attach, put, verify, curl } = engine;
    const attached = await attach('WWW.Acme.TEST.');
    expect(attached).toMatchObject({
      hostname: HOST,
      kind: 'subdomain',
      state: 'pending',
      certificate: { state: 'none' },
      instructions: [{ type: 'CNAME', name: 'www', value: TARGET, ttl: 3600 }],
      serving: { http: false, https: false },
    });
    expect(await verify(HOST)).toMatchObject({ state: 'pending', checks: [{ code: 'no_record' }] });
    expect(await curl(HOST)).toContain('unrecognized name');
    await put('www', 'CNAME', TARGET);
    expect(await verify(HOST)).toMatchObject({ ...ISSUED, serving: { http: true, https: true } });
    expect(await curl(HOST)).toBe('[]');
    expect((await api({ host: HOST })).status).toBe(200);
    const [certificate] = await call('certificates.list');
    expect(certificate).toMatchObject({ hostname: HOST, sans: [HOST], state: 'issued' });
  });

  it('waits for its certificate while CAA forbids it, and gets it when CAA is fixed', async ({ engine }) => {
    const { call, attach, put, verify, get, curl } = engine;
    await attach(HOST);
    await put('www', 'CNAME', TARGET);
    const { id } = await put('@', 'CAA', '0 issue "letsencrypt.org"');
    const blocked = await verify(HOST);
    expect(blocked).toMatchObject({ ...pending('caa_forbids'), serving: { http: true, https: false } });
    expect(blocked.checks.find(({ code }) => code === 'caa_forbids')).toMatchObject({ outcome: 'failed' });
    expect(await curl(HOST)).toContain('unrecognized name');
    expect(await call('caa.explain', { hostname: HOST })).toMatchObject({ verdict: 'forbidden', foundAt: ZONE });
    await call('settings.update', { propagation: 'PT1M' });
    await call('records.remove', { id });
    expect((await get(HOST)).certificate.state).toBe('pending');
    // As soon as the change is visible, 4 minutes before the next attempt.
    await call('clock.advance', { by: 'PT1M' });
    await expect.poll(async () => (await get(HOST)).certificate.state).toBe('issued');
    expect(await curl(HOST)).toBe('[]');
    // So does a change of the identity that CAA is checked for.
    const shop = `shop.${ZONE}`;
    await call('settings.update', { propagation: 'PT0S' });
    await put('@', 'CAA', '0 issue "letsencrypt.org"');
    await put('shop', 'CNAME', TARGET);
    await attach(shop);
    expect((await verify(shop)).certificate.state).toBe('pending');
    await call('settings.update', { caaIdentity: { domain: 'letsencrypt.org' } });
    await expect.poll(async () => (await get(shop)).certificate.state).toBe('issued');
  });

  it('stops being served before its removal returns, including on open connections', async ({ engine }) => {
    const { call, api, projectId, get, serve, curl } = engine;
    await serve('www');
    await call('domains.setPrimary', { projectId, hostname: HOST });
    const { port } = engine.app.runtime.http;
    const socket = connect(port, '127.0.0.1');
    track(() => void socket.destroy());
    socket.write(`GET /v1/pets HTTP/1.1\r\nHost: ${HOST}:${port}\r\nAuthorization: Bearer ${engine.key}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('200 OK');
    const closed = once(socket, 'close');
    await call('domains.remove', { hostname: HOST });
    expect((await api({ host: HOST })).status).toBe(404);
    await closed;
    expect(await curl(HOST)).toContain('unrecognized name');
    expect(await refusal(get(HOST))).toBe('not_found');
    expect(await call('certificates.list')).toEqual([]);
    expect((await call('projects.get', { projectId })).primary).toBeNull();
  });

  it('is answered with the reason if it is not served', async ({ call, api, projectId, attach, put, verify }) => {
    const told = async (host = HOST) => {
      const { status, json } = await api({ host });
      return [status, (json as { message: string }).message];
    };
    expect(await told()).toEqual([404, expect.stringContaining(`No project has the hostname ${HOST}`)]);
    await attach(HOST);
    await attach(`*.shop.${ZONE}`);
    for (const host of [HOST, `a.shop.${ZONE}`])
      expect(await told(host)).toEqual([404, expect.stringContaining('its DNS does not point here yet')]);
    await put('www', 'CNAME', TARGET);
    await verify(HOST);
    await call('projects.update', { projectId, plan: 'free' });
    expect(await told()).toEqual([404, expect.stringContaining('the project "Acme" and suspended')]);
  });

  it('is suspended by a change of plan, and restored by the next', async ({ call, projectId, get, serve, curl }) => {
    await serve('www');
    await call('projects.update', { projectId, plan: 'free' });
    expect(await get(HOST)).toMatchObject({ state: 'suspended', serving: { http: false, https: false } });
    expect(await curl(HOST)).toContain('unrecognized name');
    await call('projects.update', { projectId, plan: 'pro' });
    expect(await get(HOST)).toMatchObject({ state: 'verified', serving: { http: true, https: true } });
    expect(await curl(HOST)).toBe('[]');
  });

  it('redirects over both schemes or to HTTPS, and refuses loops', async ({ engine }) => {
    const { call, api, projectId, attach, put, verify, curl } = engine;
    for (const [hostname, name, type] of [
      [HOST, 'www', 'CNAME'],
      [ZONE, '@', 'ALIAS'],
    ] as const) {
      await attach(hostname);
      await put(name, type, TARGET);
      expect(await verify(hostname)).toMatchObject(ISSUED);
    }
    const redirect = (from: string, to: string) => ({ from, to });
    const set = (...redirects: unknown[]) => call('domains.setRedirects', { projectId, redirects });
    expect(await refusal(set(redirect(HOST, HOST)))).toBe('invalid_request');
    expect(await refusal(set(redirect(HOST, ZONE), redirect(ZONE, HOST)))).toBe('invalid_request');
    expect(await refusal(set(redirect('other.test', ZONE)))).toBe('invalid_request');
    await set(redirect(HOST, ZONE));
    const { http, https } = engine.app.runtime;
    const plain = await api({ host: HOST, path: '/v1/pets?limit=2' });
    expect([plain.status, plain.headers.location]).toEqual([301, `http://${ZONE}:${http.port}/v1/pets?limit=2`]);
    expect(await curl(HOST, '/v1/pets?limit=2', '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}')).toBe(
      `301 https://${ZONE}:${https.port}/v1/pets?limit=2`,
    );
    const project = await call('domains.setPrimary', { projectId, hostname: `${ZONE.toUpperCase()}.` });
    expect(project).toMatchObject({
      primary: ZONE,
      redirects: [{ from: HOST, to: ZONE, status: 301 }],
      baseUrl: { production: `http://${ZONE}:${http.port}/v1` },
    });
    await set({ from: ZONE, to: `https://${ZONE}` });
    expect((await api({ host: ZONE, path: '/v1/pets' })).headers.location).toBe(
      `https://${ZONE}:${https.port}/v1/pets`,
    );
    expect(await curl(ZONE)).toBe('[]');
    await call('domains.remove', { hostname: ZONE });
    expect(await call('projects.get', { projectId })).toMatchObject({ redirects: [] });
  });

  it.for(['--http1.1', '--http2'])(
    'is not served on a connection of another name, over %s',
    async (version, { serve, curl }) => {
      for (const name of ['www', 'shop']) await serve(name);
      const asking = (host: string) =>
        curl(HOST, '/v1/pets', version, '-H', `Host: ${host}`, '-o', '/dev/null', '-w', '%{http_code}');
      expect(await asking(HOST)).toBe('200');
      expect(await asking(`shop.${ZONE}`)).toBe('421');
      expect(await asking('acme.vivarium.localhost')).toBe('421');
      expect(await asking(`gone.${ZONE}`)).toBe('404');
    },
  );

  it('is removed with its project, and its hostname is free again', async ({ engine }) => {
    const { call, api, projectId, verify, serve, curl } = engine;
    await serve('www');
    await call('projects.remove', { projectId });
    expect(await call('domains.list')).toEqual([]);
    expect((await api({ host: HOST })).status).toBe(404);
    expect(await curl(HOST)).toContain('unrecognized name');
    const other = await addProject(engine);
    await call('domains.attach', { projectId: other.id, hostname: HOST });
    expect(await verify(HOST)).toMatchObject({ projectId: other.id, certificate: { state: 'issued' } });
  });

  it('keeps its certificate across a restart', async () => {
    const engine = await startDomainsEngine();
    const before = await engine.serve('www');
    const { serial } = await engine.call('certificates.get', { hostname: HOST });
    const again = await restarted(engine);
    expect(await again.call('domains.get', { hostname: HOST })).toEqual(before);
    expect(await again.call('certificates.get', { hostname: HOST })).toMatchObject({ serial });
    expect((await again.api({ host: HOST, key: engine.key })).status).toBe(200);
  });
});

describe('an exported certificate', () => {
  it('is the served one, in PEM and in DER; and the root is the one in its file', async ({ engine }) => {
    const { call, attach, put, verify } = engine;
    await attach(HOST);
    await expect(call('certificates.export', { hostname: HOST })).rejects.toMatchObject({ code: 'not_found' });
    await put('www', 'CNAME', TARGET);
    await verify(HOST);
    const { fingerprint, pem, chain } = await call('certificates.get', { hostname: HOST });
    const { intermediate } = (await call('ca.get')) as { intermediate: { pem: string } };
    expect(chain).toEqual([intermediate.pem]);
    expect(await call('certificates.export', { hostname: 'WWW.acme.test.' })).toEqual({
      format: 'pem',
      fileName: `${HOST}.pem`,
      text: pem + intermediate.pem,
    });
    const exported = (await call('certificates.export', { hostname: HOST, format: 'der' })) as { base64: string };
    expect(exported).toMatchObject({ format: 'der', fileName: `${HOST}.der` });
    expect(new X509Certificate(Buffer.from(exported.base64, 'base64')).fingerprint256).toBe(fingerprint);
    const root = (await call('ca.export')) as { text: string };
    expect(root).toMatchObject({ format: 'pem', fileName: 'vivarium-root.pem' });
    expect(root.text).toBe(readFileSync(engine.app.runtime.caFile, 'utf8'));
    const { base64 } = (await call('ca.export', { format: 'der' })) as { base64: string };
    expect(new X509Certificate(Buffer.from(base64, 'base64')).fingerprint256).toBe(
      new X509Certificate(root.text).fingerprint256,
    );
  });
});

describe('the root’s name constraints', () => {
  it('prevent a certificate until the root is extended', async ({ call, attach, verify, get, curl }) => {
    await call('zones.create', { name: 'acme.com' });
    await call('records.put', { zone: 'acme.com', name: 'www', type: 'CNAME', value: TARGET });
    await attach('www.acme.com');
    const held = await verify('www.acme.com');
    expect(held.certificate).toMatchObject({ state: 'pending', reason: 'suffix_not_permitted' });
    expect(held.checks.find(({ code }) => code === 'suffix_not_permitted')?.fix).toContain('"acme.com"');
    await call('ca.extend', { suffix: 'acme.com', confirm: true });
    expect(await get('www.acme.com')).toMatchObject({ certificate: { state: 'issued' }, serving: { https: true } });
    expect(await curl('www.acme.com')).toBe('[]');
    await call('ca.retract', { suffix: 'acme.com' });
    expect(await get('www.acme.com')).toMatchObject({
      ...pending('suffix_not_permitted'),
      serving: { https: false },
    });
  });
});

describe('the settings of issuance', () => {
  it('are merged, and set the identity and the delay of the CAA check', async ({ call, attach, put, verify, get }) => {
    expect(
      await call('settings.update', { caaIdentity: { domain: 'LetsEncrypt.org' }, issuanceDelay: 'PT2M' }),
    ).toMatchObject({ caaIdentity: { domain: 'letsencrypt.org', method: 'http-01' }, issuanceDelay: 'PT2M' });
    expect(await refusal(call('settings.update', { issuanceDelay: 'P3D' }))).toBe('invalid_request');
    await attach(HOST);
    await put('www', 'CNAME', TARGET);
    await put('@', 'CAA', '0 issue "letsencrypt.org"');
    expect((await verify(HOST)).certificate).toMatchObject({ state: 'pending', reason: 'issuance_pending' });
    await call('clock.advance', { by: 'PT2M' });
    expect((await get(HOST)).certificate.state).toBe('issued');
  });
});

describe('a wildcard', () => {
  it('is available over HTTPS for every name one label below, after attach and issuewild', async ({ engine }) => {
    const { call, api, projectId, attach, put, verify, curl } = engine;
    const wild = `*.shop.${ZONE}`;
    expect(await attach('*.Shop.Acme.Test.')).toMatchObject({
      hostname: wild,
      kind: 'subdomain',
      instructions: [{ type: 'CNAME', name: '*.shop', value: TARGET }],
    });
    expect(await verify(wild)).toMatchObject({ state: 'pending', checks: [{ code: 'no_record' }] });
    await put('*.shop', 'CNAME', TARGET);

    // `issue` is met, but for a wildcard `issuewild` replaces it (RFC 8659 §4.3).
    await put('shop', 'CAA', '0 issue "vivarium.localhost"');
    const { id } = await put('shop', 'CAA', '0 issuewild "other.example"');
    expect(await verify(wild)).toMatchObject(pending('caa_forbids'));
    await call('records.update', { id, value: '0 issuewild "vivarium.localhost"' });
    const verified = await verify(wild);
    expect(verified).toMatchObject(ISSUED);
    expect(verified.checks.every(({ outcome }) => outcome === 'ok')).toBe(true);
    expect(await call('certificates.get', { hostname: wild })).toMatchObject({ sans: [wild] });

    expect(await curl(`www.shop.${ZONE}`)).toBe('[]');
    expect(await curl(`anything.shop.${ZONE}`)).toBe('[]');
    expect(await curl(`shop.${ZONE}`)).toContain('unrecognized name');
    expect(await curl(`a.www.shop.${ZONE}`)).toContain('unrecognized name');
    expect((await api({ host: `www.shop.${ZONE}` })).status).toBe(200);
    const checks = await call('doctor.run');
    expect(checks.checks.find(({ id }) => id === `domains.${wild}`)).toMatchObject({ status: 'ok' });

    // A separate domain takes precedence, and a wildcard is no address to show.
    await attach(`own.shop.${ZONE}`);
    await put('own.shop', 'CNAME', TARGET);
    expect(await verify(`own.shop.${ZONE}`)).toMatchObject({ certificate: { state: 'issued' } });
    expect(await refusal(call('domains.setPrimary', { projectId, hostname: wild }))).toBe('invalid_request');
    await call('domains.remove', { hostname: wild });
    expect(await curl(`www.shop.${ZONE}`)).toContain('unrecognized name');
    expect(await curl(`own.shop.${ZONE}`)).toBe('[]');
  });

  it('is attached with its record in one call', async ({ engine, call, projectId, curl }) => {
    const attached = await call('domains.attach', { projectId, hostname: `*.${ZONE}`, local: true });
    expect(attached).toMatchObject({ state: 'verified', url: `https://www.${ZONE}:${engine.app.runtime.https.port}` });
    expect(await curl(`any.${ZONE}`)).toBe('[]');
  });

  it('is shown, reached and examined at a name that is not attached itself', async ({ engine }) => {
    const { call, projectId, get } = engine;
    vi.stubEnv('VIVARIUM_COMMAND', 'vivarium');
    onTestFinished(() => void vi.unstubAllEnvs());
    const wild = `*.${ZONE}`;
    const attach = (hostname: string) =>
      runHere(['domains', 'attach', 'acme', hostname, '--local', '--data-dir', engine.dataDir]);
    expect(await attach(`www.${ZONE}`)).toMatchObject({ code: 0 });
    const { code, stdout } = await attach(wild);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(
        `https://app.${ZONE}:${engine.app.runtime.https.port}  Open it: vivarium open app.${ZONE}`,
      ),
    ]);
    expect(await get(wild)).toMatchObject({ example: `app.${ZONE}` });
    const snippets = await call('reach.snippets', { hostname: wild });
    expect(snippets).toMatchObject({ hostname: `app.${ZONE}`, secure: true });
    // A name of its own that is not verified is served by the wildcard meanwhile, which is no fault of the engine.
    await call('domains.attach', { projectId, hostname: `bad.${ZONE}` });
    const { checks } = await call('doctor.run', { areas: ['domains'] });
    expect(checks.find(({ id }) => id === `domains.${wild}`)).toMatchObject({ status: 'ok' });
    expect(checks.find(({ id }) => id === `domains.bad.${ZONE}`)).toMatchObject({
      status: 'warning',
      evidence: expect.arrayContaining([`${wild} serves it over HTTPS.`]),
    });
  });
});

describe('revocation', () => {
  it('puts the certificate on the list, where it stays after a renewal', async ({ engine, call, serve, curl }) => {
    await serve('www');
    const { serial } = await call('certificates.get', { hostname: HOST });
    const list = async () =>
      Buffer.from(await (await fetch(`${engine.app.runtime.control.url}/intermediate.crl`)).arrayBuffer()).toString(
        'hex',
      );
    expect(await list()).not.toContain(serial.toLowerCase());
    const revoke = () => call('certificates.revoke', { hostname: HOST, reason: 'keyCompromise' });
    expect(await revoke()).toMatchObject({ serial, revoked: { reason: 'keyCompromise' } });
    expect(await refusal(revoke())).toBe('conflict');
    expect(await list()).toContain(serial.toLowerCase());
    // As at every CA, the server keeps using it until it is replaced.
    expect(await curl(HOST)).toBe('[]');
    const renewed = await call('certificates.renew', { hostname: HOST });
    expect(renewed).not.toHaveProperty('revoked');
    expect(await list()).toContain(serial.toLowerCase());
    expect(await list()).not.toContain(renewed.serial.toLowerCase());
  });
});

describe('a server in front', () => {
  it('is accepted if a request through it reaches the platform, and is otherwise named', async ({ engine }) => {
    const { call, attach, put, verify } = engine;
    const platform = engine.app.runtime.http.port;
    const front = createServer((request, response) => {
      const { headers, url } = request;
      getOverHttp({ host: '127.0.0.1', port: platform, path: url, headers }, (answer) => answer.pipe(response));
    });
    track(() => void front.close());
    await attach(HOST);
    await put('edge', 'A', '127.0.0.2');
    await put('www', 'CNAME', `edge.${ZONE}`);
    expect(await verify(HOST)).toMatchObject({
      state: 'misconfigured',
      checks: [
        { code: 'wrong_target', outcome: 'failed' },
        { code: 'not_served', outcome: 'failed', found: '127.0.0.2: no answer' },
      ],
    });
    front.listen(platform, '127.0.0.2');
    await once(front, 'listening');
    expect(await verify(HOST)).toMatchObject({
      ...ISSUED,
      checks: [{ code: 'proxied', outcome: 'warning', found: '127.0.0.2: the platform' }, { code: 'caa_forbids' }],
    });
    expect(await call('traffic.list')).toMatchObject({ items: [] });

    // The CAA records of the CNAME's target count, as for every CA (RFC 8659 §3).
    await call('domains.remove', { hostname: HOST });
    await attach(HOST);
    await put('edge', 'CAA', '0 issue ";"');
    expect(await verify(HOST)).toMatchObject(pending('caa_on_target'));
  });
});

describe('a domain below another project’s', () => {
  it('gets a warning until a TXT record permits it', async ({ engine, call, attach, put, verify }) => {
    const other = await addProject(engine);
    await attach(ZONE);
    await call('domains.attach', { projectId: other.id, hostname: HOST });
    await put('www', 'CNAME', TARGET);
    const codes = async () => (await verify(HOST)).checks.map(({ code, outcome }) => `${code} ${outcome}`);
    expect(await codes()).toEqual(expect.arrayContaining(['claimed_elsewhere warning', 'txt_missing warning']));
    await put('_vivarium', 'TXT', `${HOST}=${other.id}`);
    expect(await codes()).toContain('txt_missing ok');
    expect(await codes()).not.toContain('claimed_elsewhere warning');
  });
});

describe('a takeover', () => {
  it('gives a dangling CNAME to the next project, unless the persona wants the owner’s record', async ({ engine }) => {
    const { call, projectId, attach, put, get, verify, curl } = engine;
    const other = await addProject(engine);
    /** With a key of the first project. */
    const status = () => curl(HOST, '/v1/pets', '-o', '/dev/null', '-w', '%{http_code}');
    await put('*', 'CNAME', TARGET);
    await attach(HOST);
    await verify(HOST);
    expect(await status()).toBe('200');
    await call('domains.remove', { hostname: HOST });
    await call('domains.attach', { projectId: other.id, hostname: HOST });
    expect(await verify(HOST)).toMatchObject({ state: 'verified', projectId: other.id });
    // The request reaches the other project, which does not know the key.
    expect(await status()).toBe('401');
    await call('domains.remove', { hostname: HOST });

    for (const project of [projectId, other.id]) {
      await call('projects.update', { projectId: project, persona: 'github-pages' });
    }
    const local = { projectId, hostname: HOST, local: true };
    const { state, steps } = (await call('domains.attach', local)) as { state: string; steps: { step: string }[] };
    expect([state, steps.map(({ step }) => step)]).toEqual([
      'verified',
      ['zone', 'record', 'record', 'verified', 'certificate'],
    ]);
    await expect(call('domains.attach', { projectId: other.id, hostname: HOST })).rejects.toThrow(
      `GitHub Pages: “The custom domain \`${HOST}\` is already taken.”`,
    );
    await call('domains.remove', { hostname: HOST });
    await call('domains.attach', { projectId: other.id, hostname: HOST });
    const refused = await verify(HOST);
    expect(refused).toMatchObject({
      state: 'misconfigured',
      persona: { id: 'github-pages', state: 'DNS check unsuccessful' },
      serving: { http: false, https: false },
    });
    expect(refused.checks.find(({ outcome }) => outcome === 'failed')).toMatchObject({
      code: 'claimed_elsewhere',
      words: `You must verify your domain ${HOST} before being able to use it.`,
    });
    const challenge = (await call('records.list', { zone: ZONE })).find(({ type }) => type === 'TXT');
    await call('records.remove', { id: challenge?.id });
    const { state: after, lastCheckedAt } = await verify(HOST);
    expect(after).toBe('verified');
    await call('projects.update', { projectId: other.id, persona: 'animal-store' });
    await expect.poll(async () => (await get(HOST)).lastCheckedAt).not.toBe(lastCheckedAt);
  });

  it('is refused if Netlify reserves the names below a domain; so is an unknown persona', async ({ engine }) => {
    const { call, attach } = engine;
    const other = await addProject(engine, { persona: 'netlify' });
    await attach(ZONE);
    await expect(call('domains.attach', { projectId: other.id, hostname: HOST })).rejects.toThrow(
      /Netlify: “must be unique” "acme\.test" is attached to the project "Acme"/,
    );
    await expect(call('projects.update', { projectId: other.id, persona: 'heroku' })).rejects.toThrow(/persona/);
    expect(await call('projects.get', { projectId: other.id })).toMatchObject({ persona: 'netlify' });
  });
});

describe('propagation', () => {
  it('is reported with its time, and ends automatically', async ({ call, attach, put, verify, get }) => {
    await call('settings.update', { propagation: 'PT1H' });
    await attach(HOST);
    await put('www', 'CNAME', TARGET);
    const waiting = await verify(HOST);
    expect(waiting).toMatchObject({ state: 'pending', checks: [{ code: 'not_propagated', outcome: 'failed' }] });
    await call('clock.advance', { by: 'PT1H' });
    expect(await get(HOST)).toMatchObject(ISSUED);
  });
});

describe('attaching', () => {
  it('is refused with the code of the violated rule', async ({ call, projectId }) => {
    const attach = (hostname: string, project = projectId) =>
      refusal(call('domains.attach', { projectId: project, hostname }));
    const other = await call('projects.create', { name: 'Other', plan: 'pro' });
    const free = await call('projects.create', { name: 'Free' });
    expect(await attach(HOST)).toBe('accepted');
    expect(await Promise.all([attach(HOST), attach(HOST, other.id)])).toEqual(['in_use', 'in_use']);
    expect(await refusal(call('domains.setPrimary', { projectId: other.id, hostname: HOST }))).toBe('invalid_request');
    expect(await attach('a.acme.test', free.id)).toBe('plan_required');
    expect(await attach('a.acme.test', other.id)).toBe('deploy_required');
    expect(await attach('a_b.acme.test')).toBe('hostname_invalid');
    expect(await attach('shop.vivarium.localhost')).toBe('hostname_reserved');
    expect(await attach('a.acme.test', 'prj_none')).toBe('not_found');
  });
});
