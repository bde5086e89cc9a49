import { beforeEach, describe, expect, it } from 'vitest';
import type { Domain } from '../../../main/contract/domains.ts';
import { createDomainsWorld, RIGHT, WORLD_HOST as HOST, type DomainsWorld } from '../../support/domains-world.ts';
import { FAKE_NOW_MS } from '../../support/fake-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const iso = (atMs: number): string => new Date(atMs).toISOString();

let world: DomainsWorld;
beforeEach(() => {
  world = createDomainsWorld();
  world.zone('other A 192.0.2.1');
});

/** How often the hostname itself was queried. */
const looks = (): number => world.asked().filter((question) => question === `${HOST} CNAME`).length;

/** Adds the record that an instruction requires, as a line of the zone. */
const lineOf = ({ type, name, value }: Domain['instructions'][number]): string =>
  `${name} ${type} ${type === 'TXT' ? `"${value}"` : `${value}.`}`;

describe('the checks of an unverified hostname', () => {
  it('follow Netlify’s schedule, end with it, and restart with a re-verify', async () => {
    world.persona('netlify');
    world.lifecycle.attach('prj_1', HOST);
    expect(world.show()).toMatchObject({ nextCheckAt: iso(FAKE_NOW_MS + 10 * MINUTE) });
    await world.clock.advance(DAY);
    expect(looks()).toBe(144);
    await world.clock.advance(2 * DAY);
    expect(looks()).toBe(144 + 48);
    expect(world.show()).toMatchObject({ persona: { givenUp: true, state: 'Check DNS configuration' } });
    expect(world.show()).not.toHaveProperty('nextCheckAt');
    await world.clock.advance(30 * DAY);
    expect(looks()).toBe(144 + 48);
    await world.lifecycle.verify(HOST);
    expect(world.show()).toMatchObject({
      persona: { givenUp: false },
      nextCheckAt: iso(FAKE_NOW_MS + 33 * DAY + 10 * MINUTE),
    });
  });

  it('restart when a verified hostname has moved, and end once it is verified', async () => {
    world.persona('cloudflare');
    world.lifecycle.attach('prj_1', HOST);
    world.zone('www CNAME acme.vivarium.localhost.');
    await world.clock.advance(MINUTE);
    expect(world.show()).toMatchObject({
      state: 'verified',
      persona: { state: 'Active' },
      nextCheckAt: iso(FAKE_NOW_MS + MINUTE + DAY),
    });
    world.zone('other A 192.0.2.1');
    await world.clock.advance(DAY);
    const movedAtMs = FAKE_NOW_MS + MINUTE + DAY;
    expect(world.show()).toMatchObject({
      persona: { state: 'Moved', givenUp: false },
      nextCheckAt: iso(movedAtMs + MINUTE),
    });
    await world.clock.advance(8 * DAY);
    expect(world.show()).toMatchObject({ persona: { state: 'Moved', givenUp: true }, serving: { http: true } });
  });

  it('restart when the clock goes back', async () => {
    world.persona('mintlify');
    world.lifecycle.attach('prj_1', HOST);
    await world.clock.advance(3 * DAY);
    expect(world.show().persona).toMatchObject({ givenUp: true });
    await world.clock.set(FAKE_NOW_MS);
    await world.clock.advance(0);
    expect(world.show().persona).toMatchObject({ givenUp: false });
  });
});

it('attempt a first certificate by the persona’s schedule, and give up with it', async () => {
  world.persona('netlify');
  world.lifecycle.attach('prj_1', HOST);
  world.zone('www CNAME acme.vivarium.localhost.\n@ CAA 0 issue "letsencrypt.org"');
  await world.lifecycle.verify(HOST);
  expect(world.show().certificate).toMatchObject({ state: 'pending', nextAttemptAt: iso(FAKE_NOW_MS + 10 * MINUTE) });
  await world.clock.advance(3 * DAY - 1);
  expect(world.show().certificate.state).toBe('pending');
  await world.clock.advance(1);
  const { certificate, checks } = world.show();
  expect(certificate).toMatchObject({ state: 'failed', reason: 'timed_out' });
  expect(checks.find(({ code }) => code === 'timed_out')).toMatchObject({
    message: expect.stringContaining('within 72 hours') as unknown,
    words: 'SniCertificate::CertificateValidationError: Unable to verify challenge',
  });
});

describe('another persona', () => {
  it('checks pending domains at once, by its own rules and schedule', async () => {
    world.lifecycle.attach('prj_1', HOST);
    world.zone('www CNAME acme.vivarium.localhost.');
    await world.lifecycle.verify(HOST);
    expect(world.show()).toMatchObject({ state: 'misconfigured', nextCheckAt: iso(FAKE_NOW_MS + DAY) });
    world.persona('mintlify');
    await world.clock.advance(0);
    expect(world.show()).toMatchObject({ state: 'misconfigured', nextCheckAt: iso(FAKE_NOW_MS + 5 * MINUTE) });
    world.persona('netlify');
    await world.clock.advance(0);
    expect(world.show()).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
  });

  it('keeps verified domains in service, and reports what its rules find missing', async () => {
    world.zone(RIGHT);
    world.lifecycle.attach('prj_1', HOST);
    await world.lifecycle.verify(HOST);
    world.persona('cloudflare');
    await world.clock.advance(0);
    expect(world.show()).toMatchObject({
      state: 'misconfigured',
      persona: { name: 'Cloudflare for SaaS', state: 'Moved' },
      serving: { http: true, https: true },
      nextCheckAt: iso(FAKE_NOW_MS + MINUTE),
    });
    world.persona('animal-store');
    await world.clock.advance(0);
    expect(world.show()).toMatchObject({ state: 'verified', nextCheckAt: iso(FAKE_NOW_MS + DAY) });
    expect(world.show()).not.toHaveProperty('persona');
  });

  it('does not check a suspended domain until its plan is restored', async () => {
    world.lifecycle.attach('prj_1', HOST);
    world.plan('free');
    world.persona('vercel');
    await world.clock.advance(DAY);
    expect([looks(), world.show().state, world.show().persona?.state]).toEqual([0, 'suspended', undefined]);
    world.plan('pro');
    await world.clock.advance(0);
    expect([looks(), world.show().persona?.state]).toEqual([1, 'Invalid Configuration']);
  });
});

it.each([
  ['mintlify', ['txt_missing warning', 'txt_missing warning'], 'verified'],
  ['github-pages', ['txt_missing warning'], 'verified'],
  ['cloudflare', [], 'verified'],
] as const)('%s: a claim removed after verification', async (persona, codes, state) => {
  world.persona(persona);
  world.lifecycle.attach('prj_1', HOST);
  const [leading, ...proofs] = world.show().instructions.map(lineOf);
  world.zone([leading, ...proofs].join('\n'));
  await world.lifecycle.verify(HOST);
  expect(world.show().state).toBe('verified');
  world.zone(leading ?? '');
  await world.lifecycle.verify(HOST);
  const wrong = world.show().checks.filter(({ outcome }) => outcome !== 'ok');
  expect([wrong.map(({ code, outcome }) => `${code} ${outcome}`), world.show().state]).toEqual([codes, state]);
});

it('an apex with an A record needs no ALIAS of its DNS provider', async () => {
  world.persona('vercel');
  world.provider.facts = { zone: 'acme.test', supportsAlias: false, records: [], visibleAtMs: null };
  world.lifecycle.attach('prj_1', 'acme.test');
  await world.lifecycle.verify('acme.test');
  expect(world.lifecycle.get('acme.test').checks.map(({ code }) => code)).toEqual(['no_record']);
});
