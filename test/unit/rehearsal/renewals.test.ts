import { describe, expect, test } from 'vitest';
import { findProfile, type Profile } from '../../../main/acme/profiles.ts';
import { DAY_MS, HOUR_MS } from '../../../main/contract/duration.ts';
import { darkOf, EVENT_KINDS, planYear, type Year, type YearEvent } from '../../../main/rehearsal/renewals/course.ts';
import { follow, POLICIES } from '../../../main/rehearsal/renewals/policies.ts';

const FROM = Date.UTC(2028, 1, 16);
const at = (days: number): number => FROM + days * DAY_MS;

const yearOf = (...events: YearEvent[]): Year => ({ fromMs: FROM, toMs: at(365), events });
const between = (kind: YearEvent['kind'], from: number, to: number): YearEvent => ({
  ...{ kind, fromMs: at(from), toMs: at(to) },
});

function profileOf(name: string): Profile {
  const profile = findProfile(name);
  if (profile === undefined) throw new Error(`no profile ${name}`);
  return profile;
}

/** Days from the beginning between which the name was dark, and why. */
function darkDays(policyName: string, profile: string, year: Year): [from: number, to: number, why: string][] {
  const policy = POLICIES.find(({ name }) => name === policyName);
  if (policy === undefined) throw new Error(`no policy ${policyName}`);
  const course = follow(policy, { names: ['shop.acme.test'] }, profileOf(profile), year, 7);
  const days = (ms: number): number => Math.round((ms - FROM) / DAY_MS);
  return darkOf(course, year).map(({ fromMs, toMs, why }) => [days(fromMs), days(toMs), why]);
}

describe('a year without events', () => {
  test.each([
    ['ari', 'letsencrypt-2028'],
    ['third-left', 'letsencrypt-2028'],
    ['third-left', 'shortlived'],
    ['30-days-left', 'letsencrypt-2028'],
    ['every-60-days', 'classic'],
    ['every-60-days', 'letsencrypt-2027'],
    ['monthly', 'letsencrypt-2028'],
  ])('%s with %s never leaves the name dark', (policy, profile) => {
    expect(darkDays(policy, profile, yearOf())).toEqual([]);
  });

  test('a renewal every 60 days leaves the name dark for two weeks of each certificate of 45 days', () => {
    const why = 'The certificate expired before the client tried to renew it.';
    const dark = darkDays('every-60-days', 'letsencrypt-2028', yearOf());
    expect(dark.slice(0, 2)).toEqual([
      [45, 61, why],
      [106, 121, why],
    ]);
    expect(dark).toHaveLength(6);
  });
});

describe('an event', () => {
  const DARK = 'The certificate expired. 360 renewals failed:';
  test.each<[string, YearEvent, readonly [number, number, string][], policy?: string, profile?: string]>([
    ['an outage in which nothing is due', between('outage', 10, 12), []],
    ['an outage shorter than the remaining lifetime', between('outage', 29, 40), []],
    ['an outage beyond the end', between('outage', 29, 50), [[45, 50, `${DARK} the CA was down.`]]],
    ['a CAA record beyond the end', between('caa', 1, 50), [[45, 50, `${DARK} a CAA record forbade it.`]]],
    // The authorization still counts, but the answer about CAA counts for eight hours only.
    [
      'a CAA record while an authorization counts',
      between('caa', 1, 50),
      [[45, 50, `${DARK} a CAA record forbade it.`]],
      'third-left',
      'tlsserver',
    ],
    [
      'a lost authorization beyond the end',
      between('authorization', 29, 50),
      [[45, 50, `${DARK} the name could not be validated.`]],
    ],
  ])('%s', (_what, event, expected, policy = 'third-left', profile = 'letsencrypt-2028') => {
    expect(darkDays(policy, profile, yearOf(event))).toEqual(expected);
  });

  test('a failure after a late renewal does not explain the days before it', () => {
    const why = 'The certificate expired before the client tried to renew it.';
    const dark = darkDays('every-60-days', 'letsencrypt-2028', yearOf(between('outage', 180, 190)));
    expect(dark.slice(0, 3)).toEqual([
      [45, 61, why],
      [106, 121, why],
      [166, 191, expect.stringContaining('The renewal was late, and failed: the CA was down.')],
    ]);
  });

  test('a revocation leaves the name of a client with renewal information dark for six hours at most', () => {
    const year = yearOf(between('revocation', 10, 10));
    const [policy] = POLICIES;
    if (policy === undefined) throw new Error('no policy');
    const course = follow(policy, { names: ['shop.acme.test'] }, profileOf('letsencrypt-2028'), year, 7);
    const [dark, ...more] = darkOf(course, year);
    expect(more).toEqual([]);
    expect(dark?.fromMs).toBe(at(10));
    expect((dark?.toMs ?? Infinity) - at(10)).toBeLessThanOrEqual(6 * HOUR_MS);
  });
});

describe('the events of a year', () => {
  const options = { fromMs: FROM, days: 365, names: ['a.test', 'b.test'] };

  test('are the same for the same seed, and one of each kind', () => {
    expect(planYear({ ...options, seed: 1 })).toEqual(planYear({ ...options, seed: 1 }));
    expect(planYear({ ...options, seed: 1 })).not.toEqual(planYear({ ...options, seed: 2 }));
    const kinds = planYear({ ...options, seed: 1 }).events.map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(EVENT_KINDS.toSorted());
  });

  test('do not overlap, and are within the year, for a hundred seeds', () => {
    for (let seed = 0; seed < 100; seed++) {
      const { events, fromMs, toMs } = planYear({ ...options, seed });
      const edges = events.flatMap((event) => [event.fromMs, event.toMs]);
      expect(edges).toEqual(edges.toSorted((one, other) => one - other));
      expect([edges[0] ?? 0, toMs]).toEqual([Math.max(fromMs, edges[0] ?? 0), Math.max(toMs, edges.at(-1) ?? 0)]);
    }
  });

  test('can be omitted, and be longer', () => {
    const lengths = { revocation: null, outage: null, authorization: null, caa: 60 * DAY_MS };
    const { events } = planYear({ ...options, seed: 0, lengths });
    expect(events.map(({ kind, fromMs, toMs }) => [kind, toMs - fromMs])).toEqual([['caa', 60 * DAY_MS]]);
  });
});
