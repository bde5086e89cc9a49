import { expect } from 'vitest';
import { createAcmeFaults } from '../../../main/acme/faults.ts';
import { ACME_LIMITS } from '../../../main/contract/acme-rates.ts';
import { describeProfiles } from '../../../main/acme/profiles.ts';
import { validateHttp } from '../../../main/acme/validate-http.ts';
import { CA_ENTRIES } from '../../../main/breaks/catalogue/ca.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';
import { type FaultSource, NO_FAULTS } from '../../../main/model/fault.ts';
import { ask, certificateIdOf, createTestClient, problemOf } from '../../support/acme/acme-client.ts';
import { root, type TestServer, accountTest as test } from '../../support/acme/acme-endpoint.ts';
import { createCsr, p256 } from '../../support/certificate-request.ts';
import { freePort } from '../../support/ports.ts';

const NAME = 'app.acme.test';

/** Breaks the server as a running break of the entry does. */
function broken(entry: string, parameters: Record<string, string | number> = {}): FaultSource['named'] {
  const found = CA_ENTRIES.find(({ id }) => id === entry);
  const defaults = Object.fromEntries((found?.parameters ?? []).map(({ name, default: value }) => [name, value]));
  const fault = { breakId: 'brk_1', entry, parameters: { ...defaults, ...parameters }, draw: 0 };
  return (asked, names) => (asked === entry && (names.length === 0 || names.includes(NAME)) ? fault : null);
}

const MARK = { brokenOnPurpose: { entry: expect.any(String), breakId: 'brk_1' } };

test('ca.bad-nonces refuses a good nonce; the nonce from the error works after the break', async ({ server }) => {
  server.broken = broken('ca.bad-nonces');
  const refused = await server.client.order([NAME]);
  expect([problemOf(refused), refused.json]).toEqual(['badNonce 400', expect.objectContaining(MARK)]);
  expect((await ask(server.endpoint, '/acme/classic/directory')).status).toBe(200);
  server.broken = null;
  const nonce = refused.fields['replay-nonce']?.[0] ?? '';
  const identifiers = [{ type: 'dns', value: NAME }];
  expect((await server.client.post('/acme/classic/new-order', { identifiers }, { nonce })).status).toBe(201);
});

test.for([
  ['new-order', 503, 200],
  ['directory', 201, 503],
  ['all', 503, 503],
] as const)('ca.part-unavailable takes down: %s', async ([part, order, directory], { server }) => {
  server.broken = broken('ca.part-unavailable', { part });
  const found = await server.client.order([NAME]);
  expect([found.status, (await ask(server.endpoint, '/acme/classic/directory')).status]).toEqual([order, directory]);
  if (order === 503) expect(found.fields['retry-after']).toEqual(['60']);
});

test.for(ACME_LIMITS)(
  'ca.rate-limited refuses by the limit %s, though the counter is not exhausted',
  async (limit, { server }) => {
    server.broken = broken('ca.rate-limited', { limit });
    const another = createTestClient(server.endpoint);
    another.address = '2001:db8::1';
    const [account, order] = [await another.register(), await server.client.order([NAME])];
    const refused = limit.startsWith('newAccounts') ? account : order;
    expect([problemOf(refused), refused.fields['retry-after']?.length]).toEqual(['rateLimited 429', 1]);
    expect([account.status, order.status].filter((status) => status === 429)).toHaveLength(1);
  },
);

test('ca.eab-demanded asks a new account for an external binding, but not an existing account', async ({ server }) => {
  server.broken = broken('ca.eab-demanded');
  const { json } = await ask(server.endpoint, '/acme/classic/directory');
  expect(json['meta']).toMatchObject({ externalAccountRequired: true });
  expect(problemOf(await createTestClient(server.endpoint).register())).toBe('externalAccountRequired 403');
  expect((await server.client.register()).status).toBe(200);
});

test('ca.profile-gone removes a profile from the directory and refuses orders for it', async ({ server }) => {
  server.broken = broken('ca.profile-gone', { profile: 'shortlived' });
  const { json } = await ask(server.endpoint, '/acme/classic/directory');
  const { profiles } = json['meta'] as { profiles: Record<string, string> };
  expect(Object.keys(profiles)).toEqual(Object.keys(describeProfiles()).filter((name) => name !== 'shortlived'));
  expect(problemOf(await server.client.order([NAME], { profile: 'shortlived' }))).toBe('invalidProfile 400');
  expect((await server.client.order([NAME])).status).toBe(201);
});

test('ca.authorizations-not-reused requires a new validation for every order', async ({ server }) => {
  await server.client.obtain([NAME]);
  server.broken = broken('ca.authorizations-not-reused');
  expect((await server.client.order([NAME])).json['status']).toBe('pending');
  server.broken = null;
  expect((await server.client.order([NAME])).json['status']).toBe('ready');
});

test.for<[string, (server: TestServer) => unknown]>([
  ['ca.order-stays-processing', (server) => (server.broken = null)],
  ['ca.slow-finalize', (server) => server.clock.pass(5_000)],
])('%s delays the certificate until the break is over', async ([entry, end], { server, client }) => {
  const ordered = await client.order([NAME]);
  await client.respond(ordered);
  server.broken = broken(entry);
  const url = ordered.fields['location']?.[0] ?? '';
  const status = async () => {
    const { json, fields } = await client.post(url);
    return [json['status'], json['certificate'] !== undefined, fields['retry-after']?.[0]];
  };
  const finalized = await client.finalize(ordered, createCsr({ names: [NAME], keys: p256() }));
  expect(finalized.json['status']).toBe('processing');
  expect(await status()).toEqual(['processing', false, '1']);
  await end(server);
  expect(await status()).toEqual(['valid', true, undefined]);
});

test('ca.root-ending limits the leaf to three days, and ca.renew-now ends its renewal window', async ({ server }) => {
  server.broken = broken('ca.root-ending', { days: 3 });
  const { leaf } = await server.client.obtain([NAME]);
  const realNow = server.clock.state().realNow;
  expect(Date.parse(leaf.validTo) - realNow).toBeLessThanOrEqual(3 * DAY_MS);
  server.broken = broken('ca.renew-now');
  const { json } = await ask(server.endpoint, `/acme/renewal-info/${certificateIdOf(leaf, root.keyIdentifier)}`);
  expect(Date.parse((json['suggestedWindow'] as { end: string }).end)).toBeLessThan(realNow);
});

test.each([
  ['ca.challenge-not-found', 'was answered with status 404'],
  ['ca.challenge-wrong-token', 'instead of the key authorization'],
  ['ca.challenge-redirect-without-slash', 'lacks a slash between the host and the path'],
  ['ca.challenge-https-loop', 'The redirects lead back to'],
])('%s fails http-01 whatever the client’s server answers', async (entry, message) => {
  const faults = createAcmeFaults({ ...NO_FAULTS, named: broken(entry) }, { now: () => 0 });
  const port = await freePort();
  const { error, attempts } = await validateHttp(
    {
      identifier: { type: 'dns', value: NAME },
      ...{ wildcard: false, accountUri: '', token: 'tok', keyAuthorization: 'tok.thumb' },
    },
    {
      resolve: async () => ({ ok: true, values: ['127.0.0.1'] }),
      localPort: () => port,
      userAgent: 'test',
      arriving: faults.arriving,
    },
  );
  expect(error?.detail).toContain(message);
  expect(attempts.map(({ found }) => found).join('\n')).toContain(`broken on purpose: ${entry}`);
});

test('the catalogue lists every limit and profile', () => {
  const valuesOf = (name: string) =>
    CA_ENTRIES.flatMap(({ parameters }) => parameters.find((each) => each.name === name)?.values ?? []);
  expect(valuesOf('limit')).toEqual([...ACME_LIMITS]);
  expect(valuesOf('profile')).toEqual(Object.keys(describeProfiles()));
});
