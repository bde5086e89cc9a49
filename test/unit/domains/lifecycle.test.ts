import { beforeEach, describe, expect, it } from 'vitest';
import { createDomainsWorld, RIGHT, WORLD_HOST as HOST, type DomainsWorld } from '../../support/domains-world.ts';
import { FAKE_NOW_MS, settle } from '../../support/fake-clock.ts';
import { turnsDuring } from '../../support/turns.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const iso = (atMs: number): string => new Date(atMs).toISOString();
const FORBIDDEN = `${RIGHT}\n@ CAA 0 issue "letsencrypt.org"`;

let world: DomainsWorld;
beforeEach(() => {
  world = createDomainsWorld();
});

const codes = (): string[] => world.show().checks.map(({ code, outcome }) => `${code} ${outcome}`);

/** Attached and verified once, with the DNS as it is. */
async function attach(source?: 'hostname'): Promise<void> {
  world.lifecycle.attach('prj_1', HOST, source);
  await world.lifecycle.verify(HOST);
}
/** The same with this DNS. */
async function verified(zone = RIGHT, failures?: Parameters<DomainsWorld['zone']>[1]): Promise<void> {
  world.zone(zone, failures);
  await attach();
}
const after = (ms: number) => iso(FAKE_NOW_MS + ms);
const certificate = () => world.show().certificate;
const SERVED = { http: true, https: true };
const UNSERVED = { http: false, https: false };

describe('verification', () => {
  it('waits for a record, then serves with a certificate in the same call', async () => {
    await verified('other A 192.0.2.1');
    expect(world.show()).toMatchObject({ state: 'pending', certificate: { state: 'none' } });
    world.zone(RIGHT);
    await world.lifecycle.verify(HOST);
    expect(world.show()).toMatchObject({
      state: 'verified',
      certificate: { state: 'issued', notAfter: after(90 * DAY) },
      serving: SERVED,
      verifiedAt: after(0),
      nextCheckAt: after(DAY),
    });
    expect(world.published).toEqual([[HOST]]);
  });

  it('detects daily that a domain has moved, and still serves it', async () => {
    await verified();
    world.zone('www CNAME elsewhere.acme.test.\nelsewhere A 192.0.2.7');
    await world.clock.advance(DAY - 1);
    expect(world.show().state).toBe('verified');
    await world.clock.advance(1);
    expect(world.show()).toMatchObject({ state: 'misconfigured', serving: SERVED });
    expect(codes()).toContain('moved failed');
    world.zone(RIGHT);
    await world.clock.advance(DAY);
    expect(world.show()).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
    expect(world.ca.issued).toBe(1);
  });

  it('changes nothing if it gets no answer', async () => {
    await verified();
    world.zone(RIGHT, { [HOST]: 'SERVFAIL' });
    await world.lifecycle.verify(HOST);
    expect(world.show().state).toBe('verified');
    expect(codes()).toContain('lookup_failed unknown');
  });

  it('is repeated when the resolver has changed, if it got no answer', async () => {
    await verified(RIGHT, { [HOST]: 'SERVFAIL' });
    world.zone(RIGHT);
    await world.lifecycle.recordsChanged();
    expect(world.show().state).toBe('pending');
    await world.lifecycle.lookupsChanged();
    expect(world.show()).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
    const before = world.asked().length;
    await world.lifecycle.lookupsChanged();
    expect(world.asked()).toHaveLength(before);
  });

  it('runs once when a jump of the clock skips many days', async () => {
    await verified();
    const before = world.asked().length;
    await world.clock.advance(50 * DAY);
    expect(world.asked().length - before).toBe(11);
    expect(world.show().lastCheckedAt).toBe(after(50 * DAY));
  });

  it('runs a few times when the clock skips centuries of renewals and retries', async () => {
    await verified();
    const before = world.asked().length;
    await world.clock.advance(6_000 * 365 * DAY);
    expect(world.show()).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
    expect(Date.parse(certificate().notAfter ?? '') - world.clock.now()).toBeGreaterThan(29 * DAY);
    world.zone(FORBIDDEN);
    await world.clock.advance(900 * 365 * DAY);
    expect(world.show()).toMatchObject({ certificate: { state: 'expired', reason: 'caa_forbids' } });
    expect(world.ca.issued).toBeLessThan(4);
    expect(world.asked().length - before).toBeLessThan(150);
  });

  it('runs when a pending record becomes visible', async () => {
    world.zone('other A 192.0.2.1');
    world.provider.facts = {
      zone: 'acme.test',
      supportsAlias: true,
      records: [{ type: 'CNAME', value: 'cname.vivarium.localhost' }],
      visibleAtMs: FAKE_NOW_MS + 60 * MINUTE,
    };
    await attach();
    expect(world.show()).toMatchObject({ state: 'pending', nextCheckAt: after(60 * MINUTE) });
    world.zone(RIGHT);
    await world.clock.advance(60 * MINUTE);
    expect(world.show().state).toBe('verified');
  });

  it('runs once at a time for each hostname', async () => {
    world.zone(RIGHT);
    world.lifecycle.attach('prj_1', HOST);
    await Promise.all([1, 2, 3].map(() => world.lifecycle.verify(HOST)));
    expect(world.ca.issued).toBe(1);
    expect(world.published).toHaveLength(1);
  });
});

describe('a check over HTTP', () => {
  const look = async (zone: string) => {
    await verified(zone);
    return [world.show().state, ...codes()];
  };

  it('is made at addresses of this machine that are not the platform’s', async () => {
    world.front['127.0.0.2'] = { served: true };
    expect(await look('www A 127.0.0.2')).toEqual(['verified', 'proxied warning', 'caa_forbids ok']);
    expect(world.looked).toEqual([`${HOST} 127.0.0.2`]);
  });

  it('finds another server, in addition to the DNS', async () => {
    world.front['127.0.0.2'] = { served: true };
    world.front['127.0.0.3'] = { served: false, status: 404 };
    const found = await look('www A 127.0.0.2\nwww A 127.0.0.3');
    expect(found).toEqual(['misconfigured', 'a_conflict failed', 'not_served failed']);
    expect(world.show().checks[1]?.found).toBe('127.0.0.2: the platform; 127.0.0.3: another server, status 404');
  });

  it.each([
    ['at addresses elsewhere', 'www A 192.0.2.1'],
    ['beside an address elsewhere', 'www A 127.0.0.2\nwww A 192.0.2.1'],
    ['beside an address of the platform', 'www A 127.0.0.2\nwww A 127.0.0.1'],
    ['where the records are right', RIGHT],
    ['where the CNAMEs form a loop', 'www CNAME edge\nedge CNAME www'],
  ])('is not made %s', async (_, zone) => {
    await look(zone);
    expect(world.looked).toEqual([]);
  });
});

describe('issuance', () => {
  it('is retried every 5 minutes while CAA forbids it, and has failed after 30', async () => {
    await verified(FORBIDDEN);
    expect(world.show()).toMatchObject({
      state: 'verified',
      certificate: { state: 'pending', reason: 'caa_forbids', nextAttemptAt: after(5 * MINUTE) },
      serving: { http: true, https: false },
    });
    await world.clock.advance(30 * MINUTE - 1);
    expect(certificate().state).toBe('pending');
    await world.clock.advance(1);
    expect(certificate()).toEqual({ state: 'failed', reason: 'timed_out' });
    expect(codes()).toEqual(expect.arrayContaining(['caa_forbids failed', 'timed_out failed']));
    world.zone(RIGHT);
    await world.clock.advance(2 * DAY);
    expect(certificate().state).toBe('failed');
    await world.lifecycle.verify(HOST);
    expect(certificate().state).toBe('issued');
  });

  it('succeeds at the next attempt once CAA is fixed', async () => {
    await verified(FORBIDDEN);
    world.zone(RIGHT);
    await world.clock.advance(5 * MINUTE);
    const [notAfter, renewAt] = [90 * DAY, 60 * DAY].map((ms) => after(5 * MINUTE + ms));
    expect(certificate()).toEqual({ state: 'issued', notAfter, renewAt });
  });

  it('succeeds as soon as a changed record permits it, whatever its state', async () => {
    await verified(FORBIDDEN);
    await world.lifecycle.recordsChanged();
    expect(certificate()).toMatchObject({ state: 'pending', nextAttemptAt: after(5 * MINUTE) });
    await world.clock.advance(2 * DAY);
    expect(certificate().state).toBe('failed');
    // A change during a check is checked too.
    const caaAsked = () => world.asked().filter((question) => question === 'acme.test CAA').length;
    const before = caaAsked();
    const first = world.lifecycle.recordsChanged();
    while (caaAsked() === before) await Promise.resolve();
    world.zone(RIGHT);
    await Promise.all([first, world.lifecycle.recordsChanged()]);
    expect(certificate().state).toBe('issued');
    expect(world.ca.issued).toBe(1);
    await world.lifecycle.recordsChanged();
    expect(world.ca.issued).toBe(1);
  });

  it.each(['pending', 'failed'])(
    'that is %s because of the root is repeated when the root permits it',
    async (state) => {
      world.ca.permits = false;
      await verified();
      if (state === 'failed') await world.clock.advance(30 * MINUTE);
      expect(certificate().state).toBe(state);
      await world.lifecycle.issuerExtended();
      expect(certificate().state).toBe(state);
      world.ca.permits = true;
      await world.lifecycle.issuerExtended();
      expect(world.show()).toMatchObject({ certificate: { state: 'issued' }, serving: { https: true } });
      expect(codes()).not.toContain('suffix_not_permitted failed');
    },
  );

  it.each([
    ['caa_lookup_failed', () => world.zone(RIGHT, { 'acme.test CAA': 'SERVFAIL' })],
    ['suffix_not_permitted', () => (world.ca.permits = false)],
    ['issuance_pending', () => (world.ca.fault = 'The root expired.')],
  ])('waits with the reason %s', async (reason, arrange) => {
    world.zone(RIGHT);
    arrange();
    await attach();
    expect(world.show()).toMatchObject({ state: 'verified', certificate: { state: 'pending', reason } });
    const about = world.show().checks.filter(({ code }) => code === reason || code === 'issuance_pending');
    expect(about.map(({ code }) => code)).toEqual([reason]);
  });

  it('begins after the issuance delay', async () => {
    world.settings.issuanceDelayMs = 2 * MINUTE;
    await verified();
    const nextAttemptAt = after(2 * MINUTE);
    expect(certificate()).toEqual({ state: 'pending', reason: 'issuance_pending', nextAttemptAt });
    await world.clock.advance(2 * MINUTE);
    expect(certificate().state).toBe('issued');
  });

  it('is renewed when 30 days are left', async () => {
    await verified();
    await world.clock.advance(60 * DAY - 1);
    expect(world.lifecycle.leaf(HOST)?.serial).toBe('1');
    await world.clock.advance(1);
    expect(world.lifecycle.leaf(HOST)?.serial).toBe('2');
    expect(certificate().notAfter).toBe(after(150 * DAY));
  });

  it('expires if CAA forbids every renewal, and the domain is then served only over HTTP', async () => {
    await verified();
    world.zone(FORBIDDEN);
    await world.clock.advance(90 * DAY - 1);
    expect(world.show()).toMatchObject({ certificate: { state: 'issued', reason: 'caa_forbids' } });
    await world.clock.advance(1);
    expect(world.show()).toMatchObject({ certificate: { state: 'expired' }, serving: { http: true, https: false } });
    world.zone(RIGHT);
    await world.clock.advance(DAY);
    expect(certificate().state).toBe('issued');
  });

  it('is repeated on request, and refused with the reason', async () => {
    await verified();
    await world.lifecycle.renew(HOST);
    expect(world.lifecycle.leaf(HOST)?.serial).toBe('2');
    world.zone(FORBIDDEN);
    await expect(world.lifecycle.renew(HOST)).rejects.toMatchObject({ code: 'conflict' });
    expect(certificate()).toMatchObject({ state: 'issued', reason: 'caa_forbids' });
    expect(world.lifecycle.leaf(HOST)?.serial).toBe('2');
  });

  it('is tried again after 5 minutes if it could not be stored, not at once', async () => {
    await verified();
    await world.clock.advance(60 * DAY - 1);
    let reads = 20;
    Object.defineProperty(world.store, 'fault', { get: () => (reads-- > 0 ? new Error('disk full') : null) });
    await world.clock.advance(1);
    expect([world.ca.issued, world.lifecycle.leaf(HOST)?.serial]).toEqual([2, '1']);
    reads = 0;
    await world.clock.advance(5 * MINUTE - 1);
    expect(world.ca.issued).toBe(2);
    await world.clock.advance(1);
    expect(world.lifecycle.leaf(HOST)?.serial).toBe('3');
  });

  it('replaces a leaf from the future when the clock goes back', async () => {
    await world.clock.advance(365 * DAY);
    await verified();
    await world.clock.set(FAKE_NOW_MS);
    await world.clock.pass(1);
    const [verifiedAt, notAfter] = [after(0), after(90 * DAY)];
    expect(world.show()).toMatchObject({ certificate: { notAfter }, verifiedAt, lastCheckedAt: verifiedAt });
  });
});

describe('a lost plan', () => {
  it('suspends at once, and a regained plan returns at once with a DNS check', async () => {
    await verified();
    world.plan('free');
    expect(world.show()).toMatchObject({ state: 'suspended', serving: UNSERVED });
    // No renewal is due meanwhile.
    expect(certificate().renewAt).toBeUndefined();
    expect(codes()[0]).toBe('plan_required failed');
    expect(world.published.at(-1)).toEqual([]);
    await world.clock.advance(10 * DAY);
    expect(world.show().state).toBe('suspended');
    world.zone('www CNAME elsewhere.test.');
    world.plan('pro');
    expect(world.show()).toMatchObject({ state: 'verified', serving: SERVED });
    await world.clock.pass(1);
    expect(world.show().state).toBe('misconfigured');
  });

  it('does not suspend at a start what a provider’s API attached without a plan', async () => {
    world.zone(RIGHT);
    world.plan('free');
    await attach('hostname');
    world.lifecycle.stop();
    world.lifecycle.start();
    expect(world.show()).toMatchObject({ state: 'verified', serving: SERVED });
  });

  it('stops a running attempt to issue', async () => {
    await verified();
    const release = world.holdDns();
    const renewing = world.lifecycle.renew(HOST);
    await settle();
    world.plan('free');
    release();
    await expect(renewing).rejects.toMatchObject({ code: 'conflict' });
    expect(world.show()).toMatchObject({ state: 'suspended', serving: UNSERVED });
    expect(world.ca.issued).toBe(1);
  });

  it('prevents a running verification from serving', async () => {
    world.zone(RIGHT);
    world.lifecycle.attach('prj_1', HOST);
    const release = world.holdDns();
    const checking = world.lifecycle.verify(HOST);
    await settle();
    world.plan('free');
    release();
    await checking;
    expect(world.show()).toMatchObject({ state: 'suspended', certificate: { state: 'none' } });
    expect(world.published.flat()).toEqual([]);
  });
});

it('removal is in effect when it returns, whatever else is running', async () => {
  await verified();
  const release = world.holdDns();
  const checking = world.lifecycle.verify(HOST);
  await settle();
  world.lifecycle.remove(HOST);
  expect([world.published.at(-1), world.removed, world.lifecycle.leaf(HOST)]).toEqual([[], [HOST], null]);
  world.lifecycle.attach('prj_1', HOST);
  release();
  await expect(checking).rejects.toMatchObject({ code: 'not_found' });
  expect(world.show()).toMatchObject({ state: 'pending', checks: [] });
});

it('a store that cannot write changes nothing, and the next attempt succeeds', async () => {
  world.zone(RIGHT);
  world.lifecycle.attach('prj_1', HOST);
  world.store.fault = new Error('disk full');
  await expect(world.lifecycle.verify(HOST)).rejects.toThrow('disk full');
  expect(world.show().state).toBe('pending');
  world.store.fault = null;
  await world.lifecycle.verify(HOST);
  expect(world.show().state).toBe('verified');
});

describe('a thousand domains', () => {
  it('are verified in shared writes, and let other work run before each leaf', async () => {
    world.zone('* CNAME cname.vivarium.localhost.');
    const hostnames = Array.from({ length: 1_000 }, (_, index) => `h${index}.acme.test`);
    for (const hostname of hostnames) world.lifecycle.attach('prj_1', hostname);
    const before = world.store.writes;
    const turns = await turnsDuring(() => Promise.all(hostnames.map((hostname) => world.lifecycle.verify(hostname))));
    expect(world.ca.issued).toBe(1_000);
    expect(turns).toBeGreaterThan(1_000);
    expect(world.store.writes - before).toBeLessThan(200);
  });

  it('are no longer checked after a stop, except those whose check has begun', async () => {
    world.zone('* CNAME cname.vivarium.localhost.');
    for (let index = 0; index < 1_000; index++) world.lifecycle.attach('prj_1', `h${index}.acme.test`);
    const answer = world.holdDns();
    const passing = world.clock.advance(DAY);
    await settle();
    world.lifecycle.stop();
    answer();
    await passing;
    const checked = world.lifecycle.list().filter(({ lastCheckedAtMs }) => lastCheckedAtMs !== null);
    expect(checked).toHaveLength(32);
  });
});
