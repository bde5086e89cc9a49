import { type FlattenedJWS, FlattenedSign } from 'jose';
import { describe, expect } from 'vitest';
import { ask, createTestClient, ORIGIN, problemOf, statusOf, urlOf } from '../../support/acme/acme-client.ts';
import type { Received, TestClient } from '../../support/acme/acme-client.ts';
import { createTestServer, registered, accountTest as test } from '../../support/acme/acme-endpoint.ts';
import { createCsr, p256 } from '../../support/certificate-request.ts';

const NAME = 'app.acme.test';
const NEW_ORDER = '/acme/classic/new-order';
const ORDER = { identifiers: [{ type: 'dns', value: NAME }] };

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

describe('a request (RFC 8555 §6)', () => {
  /** Sends a body as is; `make` receives what a client would send with the nonce. */
  async function send(make: (good: FlattenedJWS, header: object) => unknown): Promise<Received & { next: string[] }> {
    const { endpoint, client } = await registered();
    const nonce = (await ask(endpoint, '/acme/new-nonce')).fields['replay-nonce']?.[0] ?? '';
    const header = { alg: 'ES256', kid: client.kid, nonce, url: ORIGIN + NEW_ORDER };
    const good = await new FlattenedSign(Buffer.from(JSON.stringify(ORDER)))
      .setProtectedHeader(header as { alg: string })
      .sign(client.keys.privateKey);
    const body = Buffer.from(text(make(good, header)));
    const contentType = 'application/jose+json; charset=utf-8';
    const answer = await endpoint.answer({ method: 'POST', target: NEW_ORDER, contentType, address: '::1', body });
    const { status, headers, body: sent } = answer;
    const next = headers.filter((_, index) => headers[index - 1] === 'Replay-Nonce');
    const json = JSON.parse(sent ?? '{}') as Record<string, unknown>;
    return { status, fields: {}, text: sent ?? '', json, next };
  }
  /** Changes the protected header, and leaves the signature. */
  const headed = (changes: object) => (good: FlattenedJWS, header: object) => ({
    ...good,
    protected: Buffer.from(JSON.stringify({ ...header, ...changes })).toString('base64url'),
  });
  const jwk = p256().publicKey.export({ format: 'jwk' });

  test.each<[string, string, Parameters<typeof send>[0]]>([
    ['as it should be', ' 201', (good) => good],
    ['that is no JSON', 'malformed 400', () => 'x'],
    [
      'in compact form',
      'malformed 400',
      ({ protected: head, payload, signature }) => `${head}.${payload}.${signature}`,
    ],
    ['in general form', 'malformed 400', ({ payload, ...one }) => ({ payload, signatures: [one] })],
    ['with an unprotected header', 'malformed 400', (good) => ({ ...good, header: { kid: 'x' } })],
    ['without a signature', 'malformed 400', ({ protected: head, payload }) => ({ protected: head, payload })],
    ['with the signature of another payload', 'malformed 400', (good) => ({ ...good, payload: 'e30' })],
    ['by none', 'badSignatureAlgorithm 400', headed({ alg: 'none' })],
    ['by HS256', 'badSignatureAlgorithm 400', headed({ alg: 'HS256' })],
    ['by EdDSA', 'badSignatureAlgorithm 400', headed({ alg: 'EdDSA' })],
    ['by key and account', 'malformed 400', headed({ jwk })],
    ['by neither', 'malformed 400', headed({ kid: undefined })],
    ['by an invalid account URL', 'malformed 400', headed({ kid: 'invalid' })],
    ['by the URL of an order', 'malformed 400', headed({ kid: `${ORIGIN}/acme/order/x` })],
    ['by an account URL of another CA', 'malformed 400', headed({ kid: 'https://ca.example/acme/account/x' })],
    ['by an account URL without an account', 'accountDoesNotExist 400', headed({ kid: `${ORIGIN}/acme/account/x` })],
    ['by a key alone', 'malformed 400', headed({ kid: undefined, jwk })],
    ['without a nonce', 'badNonce 400', headed({ nonce: undefined })],
    ['with a nonce of nobody', 'badNonce 400', headed({ nonce: 'AA' })],
    ['without a url', 'malformed 400', headed({ url: undefined })],
    ['for another host', 'malformed 400', headed({ url: `https://ca.example${NEW_ORDER}` })],
    ['that is too large', 'malformed 413', (good) => ({ ...good, more: 'x'.repeat(70_000) })],
  ])('%s: %s', async (_what, expected, make) => {
    const answer = await send(make);
    const problem = answer.status === 201 ? ' 201' : problemOf(answer);
    expect(problem).toBe(expected);
    expect(answer.next).toHaveLength(1);
    if (problem.startsWith('badSignature')) expect(answer.json['algorithms']).toContain('ES256');
  });

  test.each([
    ...[
      '/acme/new-account',
      NEW_ORDER,
      '/acme/key-change',
      '/acme/revoke',
      '/acme/account/x',
      '/acme/account/x/orders',
    ],
    ...['/acme/order/x', '/acme/order/x/finalize', '/acme/authorization/x', '/acme/challenge/x/http-01'],
    '/acme/certificate/x',
  ])('for %s must be a POST, also for reading', async (path) => {
    const answer = await ask(createTestServer().endpoint, path);
    expect([problemOf(answer), answer.fields['allow']]).toEqual(['malformed 405', ['POST']]);
  });

  test('for the directory or a nonce is a GET or a POST-as-GET by an account (§6.3)', async ({ client, endpoint }) => {
    const read = await client.post('/acme/classic/directory');
    expect([read.status, read.json]).toEqual([200, (await ask(endpoint, '/acme/classic/directory')).json]);
    const nonce = await client.post('/acme/new-nonce');
    expect([nonce.status, nonce.text, nonce.fields['replay-nonce']?.length]).toEqual([200, '', 1]);
    const next = await client.post(NEW_ORDER, ORDER, { nonce: nonce.fields['replay-nonce']?.[0] ?? '' });
    expect(next.status).toBe(201);
    for (const path of ['/acme/classic/directory', '/acme/new-nonce']) {
      expect(problemOf(await client.post(path, {}))).toBe('malformed 400');
      expect(problemOf(await client.post(path, undefined, { byKey: p256() }))).toBe('malformed 400');
    }
  });

  test('for a nonce or renewal information without a signature must be a GET', async ({ client, endpoint }) => {
    expect(problemOf(await client.post('/acme/renewal-info/x'))).toBe('malformed 405');
    const [get, head] = [await ask(endpoint, '/acme/new-nonce'), await ask(endpoint, '/acme/new-nonce', 'HEAD')];
    expect([get.status, head.status]).toEqual([204, 200]);
    for (const { fields } of [get, head]) expect(fields['cache-control']).toEqual(['no-store']);
  });

  test('for a new account is signed by its own key, and a revocation by the account key or the certificate key', async () => {
    const { client } = await registered();
    expect(problemOf(await client.post('/acme/new-account', {}))).toBe('malformed 400');
    expect(problemOf(await client.post('/acme/revoke', {}, { byKey: p256() }))).toBe('malformed 400');
    expect((await client.post('/acme/revoke', {}, { byKey: p256() })).json['detail']).toContain(
      '"certificate" is missing',
    );
  });
});

describe('a change of key (§7.3.5)', () => {
  type Keys = ReturnType<typeof p256>;
  interface Change {
    header?: object;
    payload?: object;
    signs?: Keys;
  }
  const jwkOf = ({ publicKey }: Keys) => publicKey.export({ format: 'jwk' });
  async function changeOf(client: TestClient, next: Keys, { header, payload, signs = next }: Change = {}) {
    const inner = { account: client.kid, oldKey: jwkOf(client.keys), ...payload };
    const signed = new FlattenedSign(Buffer.from(JSON.stringify(inner))).setProtectedHeader({
      ...{ alg: 'ES256', url: `${ORIGIN}/acme/key-change`, jwk: jwkOf(next) },
      ...header,
    });
    return client.post('/acme/key-change', await signed.sign(signs.privateKey));
  }

  test.for<[string, Change]>([
    ['by an account', { header: { jwk: undefined, kid: `${ORIGIN}/acme/account/x` } }],
    ['by a key other than it names', { signs: p256() }],
    ['for another url', { header: { url: `${ORIGIN}/acme/new-account` } }],
    ['of another account', { payload: { account: `${ORIGIN}/acme/account/x` } }],
    ['of no account', { payload: { account: undefined } }],
    ['from another key', { payload: { oldKey: jwkOf(p256()) } }],
    ['from no key', { payload: { oldKey: undefined } }],
  ])('is refused %s, and the old key stays valid', async ([_what, change], { client }) => {
    expect(problemOf(await changeOf(client, p256(), change))).toBe('malformed 400');
    expect((await client.order([NAME])).status).toBe(201);
  });

  test('keeps the account’s URL, orders and authorizations; the old key is refused, and free', async () => {
    const { client, endpoint } = await registered();
    await client.obtain([NAME]);
    const pending = await client.order(['later.acme.test']);
    const [old, next] = [client.keys, p256()];
    expect((await changeOf(client, next)).fields['location']).toEqual([client.kid]);
    expect(problemOf(await client.order([NAME]))).toBe('malformed 400');
    client.keys = next;
    expect((await client.order([NAME])).json['status']).toBe('ready');
    expect((await client.respond(pending)).map(({ json }) => json['status'])).toEqual(['valid']);
    const other = createTestClient(endpoint);
    other.keys = old;
    expect((await other.register()).status).toBe(201);
    expect(other.kid).not.toBe(client.kid);
  });

  test('to a key of this or another account conflicts with that account', async ({ server, client }) => {
    const { client: other } = await registered(server);
    for (const { keys, kid } of [client, other]) {
      const answer = await changeOf(client, keys);
      expect([answer.status, answer.fields['location']]).toEqual([409, [kid]]);
    }
  });
});

describe('a deactivation (§7.3.6, §7.5.2)', () => {
  test('of an account leaves its certificates’ keys only the right to revoke', async ({ client }) => {
    const { leaf, keys } = await client.obtain([NAME]);
    const order = await client.order(['later.acme.test']);
    await client.post(client.kid ?? '', { status: 'deactivated' });
    const certificate = { certificate: leaf.raw.toString('base64url') };
    const refused = [
      await client.post(client.kid ?? ''),
      await client.post(urlOf(order)),
      await client.post('/acme/key-change', {}),
      await client.post('/acme/revoke', certificate),
    ];
    expect(refused.map(problemOf)).toEqual(refused.map(() => 'unauthorized 403'));
    expect((await client.post('/acme/revoke', certificate, { byKey: keys })).status).toBe(200);
  });

  test('of an authorization invalidates its order, and ends its reuse', async ({ client }) => {
    await client.respond(await client.order([NAME]));
    const order = await client.order([NAME]);
    const [url = ''] = order.json['authorizations'] as string[];
    expect(problemOf(await client.post(url, { status: 'valid' }))).toBe('malformed 400');
    expect((await client.post(url, { status: 'deactivated' })).json['status']).toBe('deactivated');
    expect((await client.post(url, { status: 'deactivated' })).json['status']).toBe('deactivated');
    expect(await statusOf(client, order)).toBe('invalid');
    expect(problemOf(await client.finalize(order, createCsr({ names: [NAME] })))).toBe('orderNotReady 403');
    expect((await client.order([NAME])).json['status']).toBe('pending');
  });
});

describe('a revocation (§7.6)', () => {
  test.for<[unknown, string]>([
    [undefined, 'unspecified'],
    [0, 'unspecified'],
    [1, 'keyCompromise'],
    [3, 'affiliationChanged'],
    [4, 'superseded'],
    [5, 'cessationOfOperation'],
    ...[2, 6, 7, 8, 9, 10, 11, -1, 1.5, '1', null].map((code) => [code, code === null ? 'unspecified' : ''] as const),
  ] as [unknown, string][])('for the reason %j is stored as %j', async ([reason, kept], { client, store }) => {
    const { leaf } = await client.obtain([NAME]);
    const answer = await client.post('/acme/revoke', { certificate: leaf.raw.toString('base64url'), reason });
    if (kept === '') expect(problemOf(answer)).toBe('badRevocationReason 400');
    else expect(answer.status).toBe(200);
    expect(store.revocations.get(leaf.serialNumber)?.reason ?? '').toBe(kept);
  });

  test('by another account requires unexpired authorizations for all of the names', async ({ server }) => {
    const { leaf } = await server.client.obtain([NAME, 'b.acme.test']);
    const { client: other, clock } = await registered(server);
    const revoke = () => other.post('/acme/revoke', { certificate: leaf.raw.toString('base64url') });
    await other.obtain([NAME]);
    expect(problemOf(await revoke())).toBe('unauthorized 403');
    await other.respond(await other.order(['b.acme.test']));
    await clock.advance(31 * 86_400_000);
    expect(problemOf(await revoke())).toBe('unauthorized 403');
    await other.respond(await other.order([NAME, 'b.acme.test']));
    expect((await revoke()).status).toBe(200);
    expect(problemOf(await revoke())).toBe('alreadyRevoked 400');
  });
});

describe('a certificate', () => {
  test.for([
    [['127.0.0.1', '::1'], 'IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1'],
    [['127.0.0.2', NAME], `DNS:${NAME}, IP Address:127.0.0.2`],
  ] as const)('for addresses of this machine is issued: %j (RFC 8738)', async ([names, found], { client }) => {
    const { leaf } = await client.obtain(names);
    expect(leaf.subjectAltName?.split(', ').sort()).toEqual(found.split(', ').sort());
  });

  test.for([['192.0.2.1'], ['2001:db8::1'], ['0:0:0:0:0:0:0:1']] as const)(
    'cannot be reached for %s: the order is refused',
    async ([address], { client }) => {
      expect(problemOf(await client.order([address]))).toBe('rejectedIdentifier 400');
    },
  );
});
