import { describe, expect, it } from 'vitest';
import type { DoctorCheck } from '../../../../../main/contract/doctor.ts';
import type { Check } from '../../../../../main/contract/domains.ts';
import { listAttention, type AttentionSources } from '../../../../../renderer/pages/home/attention.ts';
import { nameCallers } from '../../../../../renderer/shared/limits/callers.ts';
import { FAKE_NOW_MS } from '../../../../support/fake-clock.ts';
import { makeDomain } from '../../../../support/page/page-domains.ts';
import { CREATED_AT, makeKey, makeUsage } from '../../../../support/page/page-world.ts';

const NOTHING: AttentionSources = {
  ...{ warnings: [], domains: [], callers: [], deploys: [] },
  ...{ target: undefined, nowMs: FAKE_NOW_MS },
};
const SHOP = 'shop.acme.test';
const FAILED = { id: 'a', status: 'failed', reason: 'Nobody answered.', createdAt: CREATED_AT } as const;

const check = (outcome: Check['outcome'], message: string): Check => ({ code: 'no_record', outcome, message });

const told = (sources: Partial<AttentionSources>) =>
  listAttention({ ...NOTHING, ...sources }).map(({ tone, text }) => `${tone}: ${text}`);

describe('what needs attention', () => {
  it('is nothing when all is well', () => {
    const domains = [makeDomain(SHOP, { checks: [check('ok', 'Right.'), check('warning', 'Careful.')] })];
    expect(told({ domains })).toEqual([]);
  });

  it('is a domain’s first failed check, rather than one that could not be made', () => {
    const checks = [
      check('ok', 'Right.'),
      check('unknown', 'None.'),
      check('failed', 'Wrong.'),
      check('failed', 'Too.'),
    ];
    expect(told({ domains: [makeDomain(SHOP, { state: 'misconfigured', checks })] })).toEqual(['brick: Wrong.']);
    const pending = makeDomain(SHOP, { state: 'pending', checks: checks.slice(0, 2) });
    expect(told({ domains: [pending] })).toEqual(['amber: None.']);
  });

  it('is a domain that waits for its record or is suspended, as the list of domains says', () => {
    const waiting = makeDomain(SHOP, { state: 'pending', checks: [], lastCheckedAt: undefined });
    expect(told({ domains: [waiting] })).toEqual([`amber: ${SHOP}: Waiting for the record.`]);
    const suspended = [SHOP, 'a.acme.test'].map((hostname) => makeDomain(hostname, { state: 'suspended' }));
    expect(told({ domains: suspended })).toEqual([`amber: Suspended by the plan: 2 domains, such as ${SHOP}.`]);
  });

  it('is less urgent while the domain is served', () => {
    const checks = [check('failed', 'CAA forbids it.')];
    expect(told({ domains: [makeDomain(SHOP, { checks })] })).toEqual(['amber: CAA forbids it.']);
  });

  it('is a ban until it ends, by the name of the key', () => {
    const limits = { perMinute: 60, perDay: 1_000 };
    const rest = { bannedUntil: new Date(FAKE_NOW_MS + 5_000).toISOString() };
    const usage = makeUsage('key:a', { limits, minute: 60, day: 60, nowMs: FAKE_NOW_MS, rest });
    const callers = nameCallers([usage], [makeKey('a', 'Storefront')], limits);
    expect(told({ callers })).toEqual(['brick: Storefront is banned: it kept calling after it was refused.']);
    expect(told({ callers, nowMs: FAKE_NOW_MS + 5_000 })).toEqual([]);
  });

  it('is the last deploy if it failed, and no older one', () => {
    const succeeded = { id: 'b', status: 'succeeded', createdAt: CREATED_AT } as const;
    expect(told({ deploys: [FAILED, succeeded] })).toEqual(['brick: The last deploy failed. Nobody answered.']);
    expect(told({ deploys: [succeeded, FAILED] })).toEqual([]);
  });

  it('is an upstream that does not answer, which explains its failed deploy', () => {
    const target = {
      ...{ id: 'upstreams.shop', area: 'upstreams', title: 'Target of Shop', fix: 'Start it.' },
      status: 'warning',
      evidence: ['Nothing is listening at localhost:3000.', 'Requests are answered with 502.'],
    } satisfies DoctorCheck;
    expect(told({ deploys: [FAILED], target })).toEqual([
      'brick: Nothing is listening at localhost:3000. Start your server there, or change the address.',
    ]);
    expect(told({ deploys: [FAILED], target: { ...target, status: 'ok' } })).toEqual([
      'brick: The last deploy failed. Nobody answered.',
    ]);
  });

  it('combines domains with the same cause, which can be verified together', () => {
    const at = (hostname: string, code: Check['code']) =>
      makeDomain(hostname, { state: 'misconfigured', checks: [{ ...check('failed', 'Wrong.'), code }] });
    const domains = [at('a.test', 'wrong_target'), at('b.test', 'no_record'), at('c.test', 'wrong_target')];
    expect(told({ domains })).toEqual([
      'brick: The CNAME leads elsewhere: 2 domains, such as a.test.',
      'brick: Wrong.',
    ]);
    expect(listAttention({ ...NOTHING, domains })[0]).toMatchObject({
      link: { place: { page: 'domains', query: { state: 'attention' } } },
      action: { kind: 'verify', hostnames: ['a.test', 'c.test'] },
    });
  });

  it('ends with the engine’s warnings, and links to the place where it can be resolved', () => {
    const domains = [makeDomain(SHOP, { state: 'misconfigured', checks: [check('failed', 'Wrong.')] })];
    expect(told({ warnings: ['No ::1.'], domains })).toEqual(['brick: Wrong.', 'amber: No ::1.']);
    const link = { place: { page: 'domains', item: SHOP }, label: 'Show', about: `Show ${SHOP}` };
    expect(listAttention({ ...NOTHING, domains })[0]?.link).toEqual(link);
  });
});
