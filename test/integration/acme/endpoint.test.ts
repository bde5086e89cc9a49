import type { X509Certificate } from 'node:crypto';
import { describe, expect } from 'vitest';
import { AcmeError } from '../../../main/acme/problem.ts';
import { DAY_MS, HOUR_MS } from '../../../main/contract/duration.ts';
import {
  ask,
  certificateIdOf,
  challengeOf,
  createTestClient,
  ORIGIN,
  problemOf,
  type TestClient,
  statusOf,
  urlOf,
} from '../../support/acme/acme-client.ts';
import { createTestServer, root, registered, failing, accountTest as test } from '../../support/acme/acme-endpoint.ts';
import { mutatedRequest, requestTemplates } from '../../support/acme/acme-mutations.ts';
import { createCsr, p256, rsa } from '../../support/certificate-request.ts';

const NAME = 'app.acme.test';

const issueRecord = (value: string) => ({ flags: 0, tag: 'issue', value });

describe('the ACME server', () => {
  test('has a directory for each profile', async () => {
    const { endpoint } = createTestServer();
    const { json } = await ask(endpoint, '/acme/shortlived/directory');
    expect(json).toMatchObject({
      newNonce: `${ORIGIN}/acme/new-nonce`,
      newOrder: `${ORIGIN}/acme/shortlived/new-order`,
      meta: { caaIdentities: ['vivarium.localhost'] },
    });
    expect((await ask(endpoint, '/acme/none/directory')).status).toBe(404);
  });

  test('issues to a client that has completed the challenges, and remembers the account and the authorization', async () => {
    const { client } = await registered();
    const { leaf, chain, order } = await client.obtain([NAME, '127.0.0.1']);
    expect(leaf.subjectAltName).toBe(`DNS:${NAME}, IP Address:127.0.0.1`);
    expect(leaf.verify(root.certificate.publicKey)).toBe(true);
    expect(chain.match(/BEGIN/g)).toHaveLength(2);
    expect(order.json).toMatchObject({ status: 'valid', profile: 'classic' });
    const again = await client.register();
    expect(again.status).toBe(200);
    expect((await client.order([NAME])).json['status']).toBe('ready');
  });

  test('links to alternate chains, and serves them', async ({ client }) => {
    const { order } = await client.obtain([NAME]);
    const url = String(order.json['certificate']);
    const first = await client.post(url);
    expect(first.fields['link']).toContain(`<${url}/1>;rel="alternate"`);
    expect((await client.post(`${url}/1`)).text.match(/BEGIN/g)).toHaveLength(1);
    expect((await client.post(`${url}/2`)).status).toBe(404);
  });

  test('sends a nonce and the index link with the answer to every POST, including refusals', async ({ client }) => {
    const answers = await Promise.all([client.order([NAME]), client.post('/acme/order/none'), client.post('/acme/no')]);
    for (const { fields } of answers) {
      expect(fields['replay-nonce']).toHaveLength(1);
      expect(fields['link']).toContain(`<${ORIGIN}/acme/classic/directory>;rel="index"`);
    }
  });

  test('refuses a used nonce, and accepts the nonce from the refusal', async ({ client, endpoint }) => {
    const nonce = (await ask(endpoint, '/acme/new-nonce', 'HEAD')).fields['replay-nonce']?.[0] ?? '';
    expect((await client.post('/acme/classic/new-order', orderFor(NAME), { nonce })).status).toBe(201);
    const refused = await client.post('/acme/classic/new-order', orderFor(NAME), { nonce });
    expect(problemOf(refused)).toBe('badNonce 400');
    const [fresh = ''] = refused.fields['replay-nonce'] ?? [];
    expect((await client.post('/acme/classic/new-order', orderFor(NAME), { nonce: fresh })).status).toBe(201);
  });

  test('refuses requests that are not signed correctly', async ({ client }) => {
    const path = '/acme/classic/new-order';
    const refused = {
      contentType: await client.post(path, orderFor(NAME), { contentType: 'application/json' }),
      url: await client.post(path, orderFor(NAME), { header: { url: `${ORIGIN}/acme/new-account` } }),
      key: await client.post(path, orderFor(NAME), { byKey: p256() }),
      account: await client.post(path, orderFor(NAME), { header: { kid: `${ORIGIN}/acme/account/none` } }),
      payload: await client.post(path, 'x'),
      notBefore: await client.post(path, { ...orderFor(NAME), notBefore: '2026-01-01T00:00:00Z' }),
      profile: await client.post(path, { ...orderFor(NAME), profile: 'none' }),
    };
    expect(Object.fromEntries(Object.entries(refused).map(([what, answer]) => [what, problemOf(answer)]))).toEqual({
      contentType: 'malformed 415',
      url: 'malformed 400',
      key: 'malformed 400',
      account: 'accountDoesNotExist 400',
      payload: 'malformed 400',
      notBefore: 'malformed 400',
      profile: 'invalidProfile 400',
    });
  });

  test('names the command that permits a name outside the root’s constraints', async ({ client }) => {
    const refused = await client.order([NAME, 'example.com']);
    expect(problemOf(refused)).toBe('rejectedIdentifier 400');
    expect(refused.json).toMatchObject({
      detail: expect.stringContaining('vivarium ca extend'),
      subproblems: [{ identifier: { type: 'dns', value: 'example.com' } }],
    });
  });

  test('refuses an account access to the objects of another', async ({ server }) => {
    const order = await server.client.order([NAME]);
    const { client: other } = await registered(server);
    const urls = [urlOf(order), ...(order.json['authorizations'] as string[])];
    const answers = await Promise.all(urls.map((url) => other.post(url)));
    expect(answers.map(problemOf)).toEqual(['unauthorized 403', 'unauthorized 403']);
  });
});

const orderFor = (value: string) => ({ identifiers: [{ type: 'dns', value }] });

test('answers mutated requests with a specific ACME problem, even under a valid signature', async () => {
  const { client, endpoint } = await registered();
  const templates = await requestTemplates(client, ORIGIN);
  for (let seed = 1; seed <= 400; seed++) {
    const nonce = (await ask(endpoint, '/acme/new-nonce', 'HEAD')).fields['replay-nonce']?.[0] ?? '';
    const answer = await endpoint.answer(mutatedRequest(templates, client, { nonce, seed }));
    const problem = answer.status < 400 ? '' : (answer.body ?? '');
    expect(problem, `seed ${seed}`).toMatch(/^(?:$|\{"type":"urn:ietf:params:acme:error:(?!serverInternal))/);
  }
});

describe('an order', () => {
  test.for<[string, Parameters<typeof createCsr>[0]]>([
    ['one more name', { names: [NAME, 'more.acme.test'] }],
    ['another name', { names: ['more.acme.test'] }],
    ['the name only in the common name', { names: [], commonName: NAME }],
    ['a wrong signature', { names: [NAME], signs: Buffer.from('x') }],
    ['a weak key', { names: [NAME], keys: rsa(1024) }],
  ])('refuses a CSR with %s, and accepts the correct one afterwards', async ([_what, options], { client }) => {
    const order = await client.order([NAME]);
    expect(problemOf(await client.finalize(order, createCsr({ names: [NAME] })))).toBe('orderNotReady 403');
    await client.respond(order);
    expect(problemOf(await client.finalize(order, createCsr(options)))).toBe('badCSR 400');
    expect(problemOf(await client.finalize(order, createCsr({ names: [NAME], keys: client.keys })))).toBe('badCSR 400');
    expect((await client.finalize(order, createCsr({ names: [NAME] }))).json['status']).toBe('valid');
    expect(problemOf(await client.finalize(order, createCsr({ names: [NAME] })))).toBe('orderNotReady 403');
  });

  test('for two names cannot be finalized with a CSR for others, or with garbage, and stays ready', async () => {
    const { client } = await registered();
    const names = [NAME, 'b.acme.test'];
    const order = await client.order(names);
    await client.respond(order);
    const wrong = [
      { names: [NAME] },
      { names: [...names, '*.acme.test'] },
      { names: [...names, '127.0.0.1'] },
      { names, commonName: 'c.acme.test' },
      { names, keys: rsa(1_024) },
    ].map(createCsr);
    for (const csr of [...wrong, Buffer.from('x'), Buffer.alloc(30_000, 0x30)]) {
      expect(problemOf(await client.finalize(order, csr))).toBe('badCSR 400');
      expect(await statusOf(client, order)).toBe('ready');
    }
    expect((await client.finalize(order, createCsr({ names }))).json['status']).toBe('valid');
  });

  test.for<[string, string[]]>([
    ['*.acme.test', ['dns-01', 'dns-account-01', 'dns-persist-01']],
    [NAME, ['http-01', 'dns-01', 'tls-alpn-01', 'dns-account-01', 'dns-persist-01']],
    ['127.0.0.1', ['http-01', 'tls-alpn-01']],
    ['::1', ['http-01', 'tls-alpn-01']],
  ])('for %s offers %j', async ([name, methods], { client }) => {
    const [authorization] = await client.authorizations(await client.order([name]));
    const challenges = authorization?.json['challenges'] as { type: string }[];
    expect(challenges.map(({ type }) => type)).toEqual(methods);
    expect(authorization?.json['wildcard']).toBe(name.startsWith('*') ? true : undefined);
    const persist = challenges.find(({ type }) => type === 'dns-persist-01');
    if (persist === undefined) return;
    expect(persist).toMatchObject({ accounturi: client.kid, 'issuer-domain-names': ['vivarium.localhost'] });
    expect(persist).not.toHaveProperty('token');
  });

  test('reuses a validation unless its record sets a shorter limit', async ({ server, client, clock }) => {
    server.validate = async () => ({ attempts: [], error: null, reuseMs: 60_000 });
    const order = await client.order([NAME]);
    await client.respond(order, 'dns-persist-01');
    await clock.advance(59_000);
    expect((await client.order([NAME])).json['status']).toBe('ready');
    await clock.advance(1_000);
    expect((await client.order([NAME])).json['status']).toBe('pending');
    expect((await client.finalize(order, createCsr({ names: [NAME] }))).json['status']).toBe('valid');
  });

  test('becomes invalid with the reason of the failed validation', async ({ server }) => {
    server.validate = failing;
    const order = await server.client.order([NAME]);
    const other = challengeOf((await server.client.authorizations(order))[0]?.json ?? {}, 'dns-01');
    const [challenge] = await server.client.respond(order);
    expect(challenge?.json).toMatchObject({ status: 'invalid', error: { detail: 'There is no server.' } });
    const url = urlOf(order);
    expect((await server.client.post(url)).json).toMatchObject({
      status: 'invalid',
      error: { type: 'urn:ietf:params:acme:error:connection', detail: 'There is no server.' },
    });
    expect((await server.client.post(other.url, {})).json['status']).toBe('pending');
  });

  test('expires with its authorization, which a profile may limit to hours', async ({ client, clock }) => {
    const order = await client.order([NAME], {}, 'letsencrypt-2028');
    await client.respond(order);
    await clock.advance(6 * HOUR_MS);
    expect((await client.order([NAME])).json['status']).toBe('ready');
    await clock.advance(2 * HOUR_MS);
    expect(await statusOf(client, order)).toBe('invalid');
    expect((await client.order([NAME])).json['status']).toBe('pending');
  });

  test.each([
    ['classic', 90 * DAY_MS],
    ['shortlived', 160 * HOUR_MS],
    ['letsencrypt-2027', 64 * DAY_MS],
    ['time-lapse', 90 * 60_000],
  ])('of the profile %s issues a certificate with the profile’s lifetime', async (profile, lifetimeMs) => {
    const { client, clock } = await registered();
    const { leaf } = await client.obtain([NAME], {}, profile);
    expect(leaf.validToDate.getTime() - clock.state().realNow).toBe(lifetimeMs);
  });

  test.for([0, 1, 2, 3])('continues after a crash before its write %i', async (writes, { server, client, store }) => {
    server.writesLeft = writes;
    await expect(client.obtain([NAME])).rejects.toThrow();
    server.restart();
    expect((await client.register()).status).toBe(200);
    const found = (await client.post(`${client.kid ?? ''}/orders`)).json['orders'] as string[];
    const [url] = found.length > 0 ? found : ((await client.order([NAME])).fields['location'] ?? []);
    await client.respond(await client.post(url ?? ''));
    await expect.poll(async () => (await client.post(url ?? '')).json['status']).toBe('ready');
    const order = await client.finalize(await client.post(url ?? ''), createCsr({ names: [NAME] }));
    expect(order.json['status']).toBe('valid');
    expect(store.acme.certificate(String(order.json['certificate']).split('/').at(-1) ?? '')).not.toBeNull();
  });

  test('is answered after the write to disk, and refused if the disk fails', async ({ server }) => {
    const disk = Promise.withResolvers<unknown>();
    let waits = 0;
    server.stored = async () => {
      waits++;
      await disk.promise;
    };
    const order = server.client.order([NAME]);
    await expect.poll(() => waits).toBe(1);
    expect(server.store.acme.orders({ limit: 2 })).toHaveLength(1);
    disk.resolve(null);
    expect((await order).status).toBe(201);
    server.stored = () => Promise.reject(new AcmeError('serverInternal', 'The disk is full.'));
    expect(problemOf(await server.client.order([NAME]))).toBe('serverInternal 500');
  });

  test('is processing during the CAA check, and accepts a single CSR', async ({ client, clock }) => {
    const order = await client.order([NAME]);
    await client.respond(order);
    await clock.advance(9 * HOUR_MS);
    const csr = createCsr({ names: [NAME] });
    const answers = await Promise.all([client.finalize(order, csr), client.finalize(order, csr)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });
});

describe('CAA', () => {
  test.for<[string, string, boolean]>([
    ['another CA', 'ca.example', false],
    ['nobody', ';', false],
    ['this CA', 'vivarium.localhost', true],
    ['this method', 'vivarium.localhost; validationmethods=http-01', true],
    ['another method', 'vivarium.localhost; validationmethods=dns-01', false],
    ['another account', 'vivarium.localhost; accounturi=https://localhost:8443/acme/account/none', false],
  ])('decides by a record that names %s', async ([_what, value, permitted], { server }) => {
    server.caa.set('acme.test', [issueRecord(value)]);
    const [challenge] = await server.client.respond(await server.client.order([NAME]));
    if (permitted) return expect(challenge?.json['status']).toBe('valid');
    expect(challenge?.json).toMatchObject({
      error: {
        type: 'urn:ietf:params:acme:error:caa',
        detail: expect.stringContaining(`acme.test. CAA 0 issue "${value}"`),
      },
    });
  });

  test('permits the account that it names', async ({ server }) => {
    server.caa.set(NAME, [issueRecord(`vivarium.localhost; accounturi=${server.client.kid ?? ''}`)]);
    await server.client.obtain([NAME]);
  });

  test('is checked again after eight hours', async ({ server }) => {
    const { client, clock, caa } = server;
    const order = await client.order([NAME]);
    await client.respond(order);
    caa.set('acme.test', [issueRecord(';')]);
    await clock.advance(7 * HOUR_MS);
    expect((await client.finalize(await client.order([NAME]), createCsr({ names: [NAME] }))).status).toBe(200);
    await clock.advance(2 * HOUR_MS);
    expect(problemOf(await client.finalize(order, createCsr({ names: [NAME] })))).toBe('caa 403');
    expect(await statusOf(client, order)).toBe('invalid');
  });

  test('is checked again for the method by which the name was validated', async () => {
    const { client, clock, caa } = await registered();
    caa.set('acme.test', [issueRecord('vivarium.localhost; validationmethods=dns-01')]);
    const order = await client.order([NAME]);
    await client.respond(order, 'dns-01');
    await clock.advance(9 * HOUR_MS);
    expect((await client.finalize(order, createCsr({ names: [NAME] }))).status).toBe(200);
    caa.set('acme.test', [issueRecord(';')]);
    expect((await client.finalize(await client.order([NAME]), createCsr({ names: [NAME] }))).status).toBe(200);
  });
});

describe('an account', () => {
  test('is found by its key, and is not created if the client asks for an existing one', async () => {
    const { endpoint } = createTestServer();
    const client = createTestClient(endpoint);
    expect(problemOf(await client.register({ onlyReturnExisting: true }))).toBe('accountDoesNotExist 400');
    expect((await client.register({ contact: ['mailto:anna@acme.test'] })).status).toBe(201);
    const found = await client.register({ onlyReturnExisting: true });
    expect([found.status, found.json['contact']]).toEqual([200, ['mailto:anna@acme.test']]);
  });

  test('is opened only for a client that agrees to the terms of service, which are a page here', async () => {
    const { endpoint, refusals } = createTestServer();
    const client = createTestClient(endpoint);
    const { meta } = (await ask(endpoint, '/acme/classic/directory')).json as { meta: Record<string, string> };
    const terms = meta['termsOfService'] ?? '';
    for (const url of [terms, meta['website'] ?? '']) {
      const page = await ask(endpoint, url.slice(ORIGIN.length));
      expect([page.status, page.fields['content-type']]).toEqual([200, ['text/plain; charset=utf-8']]);
      expect(page.text).toContain('ACME server');
    }
    for (const termsOfServiceAgreed of [undefined, false, 'true']) {
      const refused = await client.register({ termsOfServiceAgreed });
      expect(problemOf(refused)).toBe('userActionRequired 403');
      expect(refused.json['instance']).toBe(terms);
      expect(refused.fields['link']).toContain(`<${terms}>;rel="terms-of-service"`);
    }
    expect(refusals.list()[0]?.detail).toContain('"termsOfServiceAgreed" must be true');
    expect((await client.register()).status).toBe(201);
    expect((await client.register({ termsOfServiceAgreed: false })).status).toBe(200);
  });

  test.each([
    [['tel:1'], 'unsupportedContact 400'],
    [['mailto:a@a.test,b@b.test'], 'invalidContact 400'],
    [['mailto:a'], 'invalidContact 400'],
    ['mailto:a@a.test', 'malformed 400'],
  ])('cannot have the contact %j', async (contact, problem) => {
    expect(problemOf(await createTestClient(createTestServer().endpoint).register({ contact }))).toBe(problem);
  });

  test('can be deactivated together with its authorizations', async ({ client, store }) => {
    await client.obtain([NAME]);
    const [order] = store.acme.orders({ limit: 1 });
    expect((await client.post(client.kid ?? '', { status: 'deactivated' })).json['status']).toBe('deactivated');
    expect(store.acme.authorization(order?.authorizationIds[0] ?? '')?.status).toBe('deactivated');
    expect(problemOf(await client.order([NAME]))).toBe('unauthorized 403');
    expect(problemOf(await client.register())).toBe('unauthorized 403');
  });

  test('lists its orders, newest first, in pages', async ({ client }) => {
    for (let index = 0; index < 51; index++) await client.order([`n${index}.acme.test`]);
    const first = await client.post(`${client.kid ?? ''}/orders`);
    expect(first.json['orders']).toHaveLength(50);
    const [, next = ''] = /<([^>]+)>;rel="next"/.exec(first.fields['link']?.join() ?? '') ?? [];
    const last = await client.post(next);
    expect(last.json['orders']).toHaveLength(1);
    expect(last.fields['link']?.join()).not.toContain('next');
  });
});

describe('a certificate', () => {
  const revoke = (client: TestClient, leaf: X509Certificate, more = {}, options = {}) =>
    client.post('/acme/revoke', { certificate: leaf.raw.toString('base64url'), ...more }, options);

  test('can be revoked once, by its account, its key, or an account authorized for its names', async ({ server }) => {
    const { client } = server;
    const { client: stranger } = await registered(server);
    const [first, second, third] = [
      await client.obtain([NAME]),
      await client.obtain([NAME]),
      await client.obtain([NAME]),
    ];
    expect(problemOf(await revoke(stranger, first.leaf))).toBe('unauthorized 403');
    expect(problemOf(await revoke(client, first.leaf, { reason: 2 }))).toBe('badRevocationReason 400');
    expect((await revoke(client, first.leaf, { reason: 1 })).status).toBe(200);
    expect(problemOf(await revoke(client, first.leaf))).toBe('alreadyRevoked 400');
    expect((await revoke(client, second.leaf, {}, { byKey: second.keys })).status).toBe(200);
    await stranger.obtain([NAME]);
    expect((await revoke(stranger, third.leaf)).status).toBe(200);
    const reasons = [first, second, third].map(({ leaf }) => server.store.revocations.get(leaf.serialNumber)?.reason);
    expect(reasons).toEqual(['keyCompromise', 'unspecified', 'unspecified']);
    expect(problemOf(await revoke(client, root.certificate))).toBe('malformed 404');
  });

  test('has a renewal window, which the clock moves and a revocation opens', async ({ client, clock, endpoint }) => {
    const { leaf } = await client.obtain([NAME]);
    const path = `/acme/renewal-info/${certificateIdOf(leaf, root.keyIdentifier)}`;
    const startDays = async () => {
      const { json } = await ask(endpoint, path);
      const { start } = json['suggestedWindow'] as { start: string };
      return Math.round((Date.parse(start) - clock.state().realNow) / DAY_MS);
    };
    expect(await startDays()).toBe(59);
    await clock.advance(60 * DAY_MS);
    expect(await startDays()).toBe(-1);
    await revoke(client, leaf);
    expect((await ask(endpoint, path)).fields['retry-after']).toEqual(['21600']);
    expect((await ask(endpoint, '/acme/renewal-info/none')).status).toBe(404);
  });

  test('can be replaced once, by an order with one of its names', async ({ client }) => {
    const { leaf } = await client.obtain([NAME, 'b.acme.test']);
    const replaces = certificateIdOf(leaf, root.keyIdentifier);
    expect(problemOf(await client.order(['other.acme.test'], { replaces }))).toBe('malformed 400');
    const { order } = await client.obtain([NAME], { replaces });
    expect(order.json['replaces']).toBe(replaces);
    expect(problemOf(await client.order([NAME], { replaces }))).toBe('alreadyReplaced 409');
  });
});

describe('limits', () => {
  const limited = async () => {
    const server = await registered();
    server.limited = true;
    return server;
  };

  test('refuse the sixth certificate for the same names in a week, and tell when to retry', async () => {
    const { client, clock } = await limited();
    for (let count = 0; count < 5; count++) await client.obtain([NAME, 'b.acme.test']);
    const refused = await client.order(['b.acme.test', NAME]);
    expect(problemOf(refused)).toBe('rateLimited 429');
    const after = Number(refused.fields['retry-after']?.[0]);
    expect(after).toBe((7 * 86_400) / 5);
    expect(refused.json['detail']).toContain(new Date(clock.now() + after * 1_000).toISOString());
    expect((await client.order([NAME])).status).toBe(201);
    await clock.advance(after * 1_000);
    expect((await client.order(['b.acme.test', NAME])).status).toBe(201);
  });

  test('do not count a renewal that is due', async () => {
    const { client, clock } = await limited();
    const { leaf } = await client.obtain([NAME]);
    for (let count = 0; count < 4; count++) await client.obtain([NAME]);
    const replaces = certificateIdOf(leaf, root.keyIdentifier);
    expect(problemOf(await client.order([NAME], { replaces }))).toBe('rateLimited 429');
    await clock.advance(60 * DAY_MS);
    for (let count = 0; count < 5; count++) await client.obtain([NAME]);
    await client.obtain([NAME], { replaces });
    expect(problemOf(await client.order([NAME]))).toBe('rateLimited 429');
  });

  test('refuse further orders for a name after five failed validations in an hour', async () => {
    const server = await limited();
    server.validate = failing;
    for (let count = 0; count < 5; count++) await server.client.respond(await server.client.order([NAME]));
    expect(problemOf(await server.client.order([NAME]))).toBe('rateLimited 429');
    await server.clock.advance(HOUR_MS);
    expect((await server.client.order([NAME])).status).toBe(201);
  });

  test('refuse the eleventh account of an address in three hours', async () => {
    const server = await limited();
    for (let count = 0; count < 9; count++) await registered(server);
    const client = createTestClient(server.endpoint);
    const refused = await client.register();
    expect(problemOf(refused)).toBe('rateLimited 429');
    expect(refused.fields['retry-after']).toEqual([String((3 * 3_600) / 10)]);
    expect((await server.client.register()).status).toBe(200);
    client.address = '::1';
    expect((await client.register()).status).toBe(201);
  });

  test('refuse further accounts of an IPv6 range, whatever their address', async () => {
    const server = await limited();
    server.rates.set('newAccountsPerRange', { count: 2, periodMs: 2 * HOUR_MS });
    const from = async (address: string) => {
      const client = createTestClient(server.endpoint);
      client.address = address;
      const answer = await client.register();
      return { status: answer.status, text: `${answer.text} ${answer.fields['retry-after']?.[0] ?? ''}` };
    };
    expect([await from('2001:db8::1'), await from('2001:db8:0:7::1')].map(({ status }) => status)).toEqual([201, 201]);
    const refused = await from('2001:db8:0:8::1');
    expect(refused.status).toBe(429);
    expect(refused.text).toMatch(/too many new accounts from the IPv6 range \(2001:db8::\/48\): 2 in 2 h.* 3600$/);
    expect([(await from('2001:db8:1::1')).status, (await from('192.0.2.1')).status]).toEqual([201, 201]);
    await server.clock.advance(HOUR_MS);
    expect((await from('2001:db8:0:9::1')).status).toBe(201);
  });

  test('pause an account for a name after consecutive failures, also for renewals, until one validation succeeds', async () => {
    const server = await limited();
    const { client, clock, rates } = server;
    const { leaf } = await client.obtain([NAME], {}, 'letsencrypt-2028');
    rates.set('consecutiveFailures', { count: 3, periodMs: 3 * DAY_MS });
    await clock.advance(31 * DAY_MS);
    const attempt = async (validate: typeof server.validate) => {
      server.validate = validate;
      await client.respond(await client.order([NAME], {}, 'letsencrypt-2028'));
      // A successful validation can be reused for seven hours.
      if (validate === succeeding) await clock.advance(8 * HOUR_MS);
    };
    const succeeding = server.validate;
    for (const each of [failing, failing, succeeding, failing, failing]) await attempt(each);
    expect((await client.order([NAME])).status).toBe(201);
    await attempt(failing);
    const replaces = certificateIdOf(leaf, root.keyIdentifier);
    const refused = await client.order(['other.acme.test', NAME], { replaces });
    expect(problemOf(refused)).toBe('rateLimited 429');
    expect(refused.json['detail']).toContain('consecutive failed validations');
    expect((await client.order(['other.acme.test'])).status).toBe(201);
    await clock.advance(Number(refused.fields['retry-after']?.[0]) * 1_000);
    expect((await client.order([NAME], { replaces })).status).toBe(201);
  });

  test('count IP addresses like domains, IPv6 ones by their /64', async () => {
    const server = await limited();
    server.rates.set('certificatesPerDomain', { count: 1, periodMs: DAY_MS });
    await server.client.obtain(['127.0.0.1']);
    const [v4, other, v6] = [['127.0.0.1', 'a.acme.test'], ['127.0.0.2'], ['::1']];
    expect(problemOf(await server.client.order(v4))).toBe('rateLimited 429');
    expect((await server.client.order(other)).status).toBe(201);
    await server.client.obtain(v6);
    expect((await server.client.order([...v6, 'b.acme.test'])).json['detail']).toContain('(::/64)');
  });

  test('answer with the longest wait when several are exceeded', async () => {
    const server = await limited();
    server.rates
      .set('newOrders', { count: 1, periodMs: HOUR_MS })
      .set('certificatesPerSet', { count: 1, periodMs: DAY_MS });
    await server.client.obtain([NAME]);
    expect((await server.client.order([NAME])).fields['retry-after']).toEqual(['86400']);
    expect((await server.client.order(['b.acme.test'])).fields['retry-after']).toEqual(['3600']);
  });

  test('do not count beyond their maximum', async ({ server }) => {
    server.validate = failing;
    for (let count = 0; count < 20; count++) await server.client.respond(await server.client.order([NAME]));
    server.limited = true;
    expect((await server.client.order([NAME])).fields['retry-after']).toEqual(['720']);
  });

  test('are off by default', async ({ client }) => {
    for (let count = 0; count < 6; count++) await client.obtain([NAME]);
  });
});
