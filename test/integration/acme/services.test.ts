import { describe, expect, test } from 'vitest';
import { createRates } from '../../../main/acme/rates.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';
import { createAcmeServices } from '../../../main/services/certificates/acme.ts';
import { ORIGIN, ask, certificateIdOf } from '../../support/acme/acme-client.ts';
import { registered, failing, root } from '../../support/acme/acme-endpoint.ts';

const CALL = { signal: undefined };

/** What the page and the commands receive, of a server with an account. */
async function openDesk() {
  const server = await registered();
  const { clock, endpoint, refusals, store } = server;
  const rates = createRates({ now: () => clock.now(), enforced: () => false, changed: () => new Map() });
  let changes = 0;
  const desk = createAcmeServices({
    rows: store.acme,
    server: { rates, refusals, origin: () => ORIGIN, endpoint: async () => endpoint },
    revocations: store.revocations,
    clock,
    enforced: () => false,
    changed: () => void (changes += 1),
  });
  return { ...server, server, desk, changes: () => changes };
}

const idOf = (answer: { fields: Record<string, string[]> }): string =>
  (answer.fields['location']?.[0] ?? '').split('/').at(-1) ?? '';

describe('the list of orders', () => {
  test('filters by name and by current state, including orders that their clients abandoned', async () => {
    const { server, client, clock, desk } = await openDesk();
    const valid = (await client.obtain(['shop.acme.test', 'www.shop.acme.test'])).order;
    server.validate = failing;
    const failed = await client.order(['mail.acme.test']);
    // Its client never asks for the result.
    await client.respond(failed);
    const open = await client.order(['new.acme.test']);
    const names = async (input: Parameters<typeof desk.orders>[0]) =>
      (await desk.orders(input, CALL)).map(({ names: [name], status }) => `${name ?? ''} ${status}`);
    const all = ['new.acme.test pending', 'mail.acme.test invalid', 'shop.acme.test valid'];
    const cases: [Parameters<typeof desk.orders>[0], string[]][] = [
      [{ limit: 100 }, all],
      [{ search: '', limit: 100 }, all],
      [{ search: 'SHOP.acme', limit: 100 }, all.slice(2)],
      // This matches the stored text, but no part of a name.
      [{ search: 'dns', limit: 100 }, []],
      [{ state: 'open', limit: 100 }, all.slice(0, 1)],
      [{ state: 'invalid', limit: 100 }, all.slice(1, 2)],
      [{ state: 'valid', limit: 100 }, all.slice(2)],
      [{ state: 'valid', search: 'mail', limit: 100 }, []],
      [{ accountId: 'another', limit: 100 }, []],
      [{ search: client.kid?.split('/').at(-1) ?? '', state: 'open', limit: 100 }, all.slice(0, 1)],
      [{ accountId: client.kid?.split('/').at(-1) ?? '', state: 'open', limit: 100 }, all.slice(0, 1)],
      [{ limit: 2 }, all.slice(0, 2)],
      [{ after: idOf(failed), limit: 2 }, all.slice(2)],
      [{ after: 'forgotten', limit: 2 }, []],
    ];
    for (const [input, expected] of cases) expect([input, await names(input)]).toEqual([input, expected]);
    await clock.advance(8 * DAY_MS);
    expect(await names({ state: 'invalid', limit: 100 })).toEqual(['new.acme.test invalid', 'mail.acme.test invalid']);
    expect(await names({ state: 'open', limit: 100 })).toEqual([]);
    expect([valid.json['status'], idOf(open)]).toEqual(['valid', expect.any(String)]);
  });

  test('shows an order whose authorization has expired as failed', async () => {
    const { client, clock, desk } = await openDesk();
    await client.respond(await client.order(['a.acme.test'], {}, 'letsencrypt-2028'));
    expect(await desk.orders({ state: 'open', limit: 1 }, CALL)).toMatchObject([{ status: 'ready' }]);
    // Authorizations of this profile last seven hours, orders wait for seven days.
    await clock.advance(DAY_MS);
    expect(await desk.orders({ state: 'open', limit: 1 }, CALL)).toEqual([]);
    expect(await desk.orders({ state: 'invalid', limit: 1 }, CALL)).toMatchObject([{ status: 'invalid' }]);
  });
});

test('the list of refusals has names, account and reason, and leaves out those of a normal exchange', async () => {
  const { client, desk, server } = await openDesk();
  const account = client.kid?.split('/').at(-1);
  await client.post('/acme/new-account', { onlyReturnExisting: true }, { nonce: 'used' });
  await client.order(['shop.acme.com']);
  const order = await client.order(['a.acme.test']);
  await client.finalize(order, Buffer.from('no CSR'));
  expect(desk.refusals({}, CALL)).toMatchObject([
    { type: 'orderNotReady', orderId: idOf(order), accountId: account },
    {
      ...{ type: 'rejectedIdentifier', path: '/acme/classic/new-order', names: ['shop.acme.com'], accountId: account },
      detail: expect.stringContaining('vivarium ca extend shop.acme.com'),
    },
  ]);
  for (let count = 0; count < 150; count += 1) server.refusals.add({ atMs: 0, type: 'x', detail: '', path: '/' });
  expect(desk.refusals({}, CALL)).toHaveLength(100);
  await client.post(`/acme/order/${'x'.repeat(8_000)}`, {});
  expect((await desk.refusals({}, CALL))[0]?.path).toBe(`/acme/order/${'x'.repeat(188)}`);
});

test('does not list a failed authorization that its client deactivates, as lego does', async () => {
  const { client, desk, server } = await openDesk();
  server.validate = failing;
  const order = await client.order(['a.acme.test']);
  await client.respond(order);
  const [url = ''] = order.json['authorizations'] as string[];
  const { status, json } = await client.post(url, { status: 'deactivated' });
  expect([status, json['status'], desk.refusals({}, CALL)]).toEqual([200, 'invalid', []]);
});

describe('at the page', () => {
  test('the certificate of an order can be revoked once, and its renewal is then due', async () => {
    const { client, desk, store, changes } = await openDesk();
    const { order } = await client.obtain(['a.acme.test']);
    const orderId = String(order.json['finalize']).split('/').at(-2) ?? '';
    const before = await desk.explain({ orderId }, CALL);
    const after = await desk.revoke({ orderId, reason: 'keyCompromise' }, CALL);
    expect([before.leaf?.revoked, after.leaf?.revoked?.reason, changes()]).toEqual([undefined, 'keyCompromise', 1]);
    expect([before.revoked, after.revoked]).toEqual([undefined, true]);
    expect(Date.parse(after.leaf?.renewal.from ?? '')).toBeLessThan(Date.parse(before.leaf?.renewal.from ?? ''));
    expect(store.revocations.get(after.leaf?.serial ?? '')?.reason).toBe('keyCompromise');
    await expect(desk.revoke({ orderId, reason: 'unspecified' }, CALL)).rejects.toThrow('is already revoked');
    const open = await client.order(['b.acme.test']);
    await expect(desk.revoke({ orderId: idOf(open), reason: 'unspecified' }, CALL)).rejects.toThrow(
      'has no certificate',
    );
  });

  test('an account can be deactivated together with its open orders', async () => {
    const { client, desk } = await openDesk();
    const open = await client.order(['b.acme.test']);
    expect(await desk.deactivate({ accountId: client.kid ?? '' }, CALL)).toMatchObject({ status: 'deactivated' });
    expect((await client.order(['c.acme.test'])).status).toBe(403);
    expect(await desk.explain({ orderId: idOf(open) }, CALL)).toMatchObject({ status: 'invalid' });
    await expect(desk.deactivate({ accountId: 'none' }, CALL)).rejects.toThrow('There is no account "none"');
  });
});

describe('the operator', () => {
  test('revokes a valid certificate once, and opens its renewal window', async () => {
    const { client, desk, clock, endpoint, changes } = await openDesk();
    await client.obtain(['old.acme.test'], {}, 'shortlived');
    await clock.advance(10 * DAY_MS);
    const { leaf } = await client.obtain(['a.acme.test']);
    const { order } = await client.obtain(['b.acme.test']);
    const orderId = order.fields['location']?.[0] ?? '';
    await desk.revoke({ orderId, reason: 'superseded' }, CALL);
    const rest = await desk.revokeAll({ reason: 'unspecified' }, CALL);
    expect(rest.map(({ names }) => names)).toEqual([['a.acme.test']]);
    expect(await desk.revokeAll(undefined, CALL)).toEqual([]);
    expect(changes()).toBe(2);
    const { json } = await ask(endpoint, `/acme/renewal-info/${certificateIdOf(leaf, root.keyIdentifier)}`);
    const { end } = json['suggestedWindow'] as { end: string };
    expect(Date.parse(end)).toBeLessThan(clock.state().realNow);
  });

  test('makes clients prove control again', async () => {
    const { client, desk } = await openDesk();
    await client.obtain(['a.acme.test', 'b.acme.test']);
    const status = async (name: string) => (await client.order([name])).json['status'];
    expect(await status('a.acme.test')).toBe('ready');
    const lost = await desk.loseAuthorizations({ name: 'A.acme.test' }, CALL);
    expect(lost.map(({ name }) => name)).toEqual(['a.acme.test']);
    expect([await status('a.acme.test'), await status('b.acme.test')]).toEqual(['pending', 'ready']);
    expect((await desk.loseAuthorizations(undefined, CALL)).map(({ name }) => name)).toEqual(['b.acme.test']);
    expect(await status('b.acme.test')).toBe('pending');
  });

  test('issues certificates that appear shorter-lived to clients, and asks clients to check again sooner', async () => {
    const { client, endpoint } = await openDesk();
    const { leaf, order } = await client.obtain(['a.acme.test'], {}, 'letsencrypt-2028@1m');
    expect(order.json['profile']).toBe('letsencrypt-2028@1m');
    const minutes = (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 60_000;
    expect(Math.round(minutes)).toBe(46);
    const { fields } = await ask(endpoint, `/acme/renewal-info/${certificateIdOf(leaf, root.keyIdentifier)}`);
    expect(Number(fields['retry-after']?.[0])).toBe(15);
  });
});
