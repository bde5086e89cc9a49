import { FlattenedSign } from 'jose';
import { describe, expect, test } from 'vitest';
import { ask, createTestClient, ORIGIN, problemOf, type TestClient } from '../../support/acme/acme-client.ts';
import { createTestServer } from '../../support/acme/acme-endpoint.ts';
import { p256 } from '../../support/certificate-request.ts';

const NEW_ACCOUNT = `${ORIGIN}/acme/new-account`;
const SECRET = Buffer.alloc(32, 7);

interface Binding {
  header?: Record<string, unknown>;
  payload?: unknown;
  secret?: Uint8Array;
}

/** A server that has the external key `one` and requires a binding. */
function bindingServer() {
  const server = createTestServer();
  server.bound = true;
  for (const id of ['one', 'revoked']) {
    const revokedAtMs = id === 'revoked' ? { revokedAtMs: 1 } : {};
    const secret = SECRET.toString('base64url');
    server.store.acme.save({ externalKey: { id, secret, name: '', createdAtMs: 0, ...revokedAtMs } });
  }
  return Object.assign(server, { client: createTestClient(server.endpoint) });
}

async function bindingOf({ keys }: TestClient, { header = {}, payload, secret = SECRET }: Binding = {}) {
  const own = keys.publicKey.export({ format: 'jwk' });
  return new FlattenedSign(Buffer.from(JSON.stringify(payload ?? own)))
    .setProtectedHeader({ alg: 'HS256', kid: 'one', url: NEW_ACCOUNT, ...header })
    .sign(secret);
}

describe('a server that requires external accounts', () => {
  test('states the requirement in the directory and nowhere else', async () => {
    const server = bindingServer();
    const required = async () =>
      ((await ask(server.endpoint, '/acme/classic/directory')).json['meta'] as object | undefined) ?? {};
    expect(await required()).toMatchObject({ externalAccountRequired: true });
    server.bound = false;
    expect(await required()).not.toHaveProperty('externalAccountRequired');
  });

  test('opens one account per key, keeps the binding, and then finds the account by its own key', async () => {
    const { client, endpoint, store } = bindingServer();
    const externalAccountBinding = await bindingOf(client);
    const opened = await client.register({ externalAccountBinding });
    expect([opened.status, opened.json['externalAccountBinding']]).toEqual([201, externalAccountBinding]);
    expect((await client.post(client.kid ?? '')).json['externalAccountBinding']).toEqual(externalAccountBinding);
    expect(store.acme.externalKey('one')?.accountId).toBe(client.kid?.split('/').at(-1));
    expect((await client.register()).status).toBe(200);
    const other = createTestClient(endpoint);
    const again = await other.register({ externalAccountBinding: await bindingOf(other) });
    expect(problemOf(again)).toBe('unauthorized 403');
    expect(again.json['detail']).toContain('has already been used for an account');
  });

  test('opens one account for two concurrent requests with the same key', async () => {
    const server = bindingServer();
    const clients = [server.client, createTestClient(server.endpoint)];
    const bindings = await Promise.all(clients.map((client) => bindingOf(client)));
    const answers = await Promise.all(
      clients.map((client, index) => client.register({ externalAccountBinding: bindings[index] })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    const { client } = bindingServer();
    const externalAccountBinding = await bindingOf(client);
    const twice = await Promise.all([1, 2].map(() => client.register({ externalAccountBinding })));
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(server.store.acme.accounts(10)).toHaveLength(1);
  });

  test.each<[string, Binding | 'none' | 'text', string]>([
    ['without a binding', 'none', 'externalAccountRequired 403'],
    ['with a text for a binding', 'text', 'malformed 400'],
    ['with another secret', { secret: Buffer.alloc(32, 8) }, 'unauthorized 403'],
    ['with an unknown key', { header: { kid: 'two' } }, 'unauthorized 403'],
    ['with a revoked key', { header: { kid: 'revoked' } }, 'unauthorized 403'],
    ['without a key', { header: { kid: undefined } }, 'malformed 400'],
    ['with another url', { header: { url: `${ORIGIN}/acme/classic/new-order` } }, 'malformed 400'],
    ['with a nonce', { header: { nonce: 'x' } }, 'malformed 400'],
    ['over another key', { payload: p256().publicKey.export({ format: 'jwk' }) }, 'malformed 400'],
    ['over no key', { payload: {} }, 'badPublicKey 400'],
    ['with HS384', { header: { alg: 'HS384' } }, ' 201'],
    ['with HS512', { header: { alg: 'HS512' } }, ' 201'],
  ])('accepts or refuses an account %s', async (_what, given, expected) => {
    const { client, store } = bindingServer();
    const externalAccountBinding =
      given === 'none' ? undefined : given === 'text' ? 'x' : await bindingOf(client, given);
    const answer = await client.register({ externalAccountBinding });
    if (expected === ' 201') return expect(answer.status).toBe(201);
    expect(problemOf(answer)).toBe(expected);
    expect([store.acme.accounts(1), store.acme.externalKey('one')?.accountId]).toEqual([[], undefined]);
  });

  test('refuses an account with a signature in place of the MAC, and with neither', async () => {
    const { client } = bindingServer();
    const own = client.keys.publicKey.export({ format: 'jwk' });
    const signed = await new FlattenedSign(Buffer.from(JSON.stringify(own)))
      .setProtectedHeader({ alg: 'ES256', kid: 'one', url: NEW_ACCOUNT })
      .sign(client.keys.privateKey);
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: 'one', url: NEW_ACCOUNT })).toString('base64url');
    const answers = [signed, { ...signed, protected: header, signature: '' }].map((externalAccountBinding) =>
      client.register({ externalAccountBinding }),
    );
    for (const answer of await Promise.all(answers)) {
      expect(problemOf(answer)).toBe('badSignatureAlgorithm 400');
      expect(answer.json['algorithms']).toEqual(['HS256', 'HS384', 'HS512']);
    }
  });

  test('without the requirement, accepts a correct binding and refuses a wrong one', async () => {
    const server = bindingServer();
    server.bound = false;
    const { client } = server;
    const wrong = await bindingOf(client, { secret: Buffer.alloc(32, 8) });
    expect(problemOf(await client.register({ externalAccountBinding: wrong }))).toBe('unauthorized 403');
    expect((await client.register({ externalAccountBinding: await bindingOf(client) })).status).toBe(201);
  });
});
