import { expect, test } from 'vitest';
import { DAY_MS } from '../../../main/contract/duration.ts';
import { createAcmeServices } from '../../../main/services/certificates/acme.ts';
import { ask, certificateIdOf, createTestClient, ORIGIN } from '../../support/acme/acme-client.ts';
import { createTestServer, root } from '../../support/acme/acme-endpoint.ts';

/** What the operator of the CA does while a client has an account. */
async function operated() {
  const server = createTestServer();
  const { endpoint, store, clock, refusals } = server;
  const client = createTestClient(endpoint);
  await client.register();
  let changes = 0;
  const services = createAcmeServices({
    rows: store.acme,
    server: {
      endpoint: () => Promise.resolve(endpoint),
      rates: { limits: () => [], list: () => [], reset: () => undefined },
      refusals,
      origin: () => ORIGIN,
    },
    ...{ clock, revocations: store.revocations },
    enforced: () => false,
    changed: () => (changes += 1),
  });
  return { ...server, client, services, changes: () => changes };
}

const CONTEXT = {} as never;

test('revokes a valid certificate once, and opens its renewal window', async () => {
  const { client, services, clock, endpoint, changes } = await operated();
  await client.obtain(['old.acme.test'], {}, 'shortlived');
  await clock.advance(10 * DAY_MS);
  const { leaf } = await client.obtain(['a.acme.test']);
  const { order } = await client.obtain(['b.acme.test']);
  const orderId = order.fields['location']?.[0] ?? '';
  await services.revoke({ orderId, reason: 'superseded' }, CONTEXT);
  const rest = await services.revokeAll({ reason: 'unspecified' }, CONTEXT);
  expect(rest.map(({ names }) => names)).toEqual([['a.acme.test']]);
  expect(await services.revokeAll(undefined, CONTEXT)).toEqual([]);
  expect(changes()).toBe(2);
  const { json } = await ask(endpoint, `/acme/renewal-info/${certificateIdOf(leaf, root.keyIdentifier)}`);
  const { end } = json['suggestedWindow'] as { end: string };
  expect(Date.parse(end)).toBeLessThan(clock.state().realNow);
});

test('makes clients prove control again', async () => {
  const { client, services } = await operated();
  await client.obtain(['a.acme.test', 'b.acme.test']);
  const status = async (name: string) => (await client.order([name])).json['status'];
  expect(await status('a.acme.test')).toBe('ready');
  const lost = await services.loseAuthorizations({ name: 'A.acme.test' }, CONTEXT);
  expect(lost.map(({ name }) => name)).toEqual(['a.acme.test']);
  expect([await status('a.acme.test'), await status('b.acme.test')]).toEqual(['pending', 'ready']);
  expect((await services.loseAuthorizations(undefined, CONTEXT)).map(({ name }) => name)).toEqual(['b.acme.test']);
  expect(await status('b.acme.test')).toBe('pending');
});

test('issues certificates that appear shorter-lived to clients, and asks clients to check again sooner', async () => {
  const { client, endpoint } = await operated();
  const { leaf, order } = await client.obtain(['a.acme.test'], {}, 'letsencrypt-2028@1m');
  expect(order.json['profile']).toBe('letsencrypt-2028@1m');
  const minutes = (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 60_000;
  expect(Math.round(minutes)).toBe(46);
  const { fields } = await ask(endpoint, `/acme/renewal-info/${certificateIdOf(leaf, root.keyIdentifier)}`);
  expect(Number(fields['retry-after']?.[0])).toBe(15);
});
