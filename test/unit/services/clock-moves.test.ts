import { describe, expect, it } from 'vitest';
import { describeMove, type TimedDomain, type TimedState } from '../../../main/services/clock.ts';

const SUNSETS = [{ operation: 'GET /pets/{petId}', atMs: 100 }];

const domain = (hostname: string, rest: Partial<TimedDomain> = {}): TimedDomain => ({
  hostname,
  projectId: 'prj_1',
  state: 'verified',
  lastCheckedAtMs: 1,
  certificate: { state: 'issued', notAfterMs: 90 },
  ...rest,
});

const state = (rest: Partial<TimedState> = {}): TimedState => ({
  nowMs: 0,
  domains: [],
  limits: { minutes: 0, days: 0, bans: 0 },
  published: 0,
  ...rest,
});

const WWW = 'www.acme.test';

describe('a move of the clock', () => {
  it.each<[string, Partial<TimedState>, Partial<TimedState>, string[]]>([
    ['nothing', {}, { nowMs: 50 }, []],
    ['a sunset', {}, { nowMs: 100 }, ['GET /pets/{petId} is removed: it answers 410.']],
    ['the way back past a sunset', { nowMs: 100 }, { nowMs: 99 }, ['GET /pets/{petId} answers again.']],
    [
      'rate windows and a ban',
      { limits: { minutes: 3, days: 2, bans: 1 } },
      { limits: { minutes: 1, days: 1, bans: 0 } },
      ['1 ban is over.', '2 per-minute limits have reset.', '1 daily limit has reset.'],
    ],
    ['windows that were begun meanwhile', {}, { limits: { minutes: 1, days: 1, bans: 0 } }, []],
    ['propagation', { published: 3 }, { published: 5 }, ['2 DNS changes are visible now.']],
    [
      'a daily check with the same result',
      { domains: [domain(WWW)] },
      { domains: [domain(WWW, { lastCheckedAtMs: 2 })] },
      ['1 domain was checked again.'],
    ],
    [
      'a domain that moved away',
      { domains: [domain(WWW)] },
      { domains: [domain(WWW, { lastCheckedAtMs: 2, state: 'misconfigured' })] },
      ['1 domain was checked again.', 'www.acme.test (project Shop) is misconfigured.'],
    ],
    [
      'a renewal',
      { domains: [domain(WWW)] },
      { domains: [domain(WWW, { certificate: { state: 'issued', notAfterMs: 180 } })] },
      ['The certificate of www.acme.test (project Shop) was renewed.'],
    ],
    [
      'an expiry',
      { domains: [domain(WWW)] },
      { domains: [domain(WWW, { certificate: { state: 'expired', notAfterMs: 90 } })] },
      ['The certificate of www.acme.test (project Shop) has expired.'],
    ],
    ['a domain that was attached meanwhile', {}, { domains: [domain(WWW)] }, []],
  ])('reports %s', (_what, before, after, happened) => {
    expect(describeMove(state(before), state(after), SUNSETS, () => 'Shop')).toEqual(happened);
  });

  it('names the first domains, and counts the rest', () => {
    const hostnames = Array.from({ length: 2_000 }, (_, index) => `d${index}.test`);
    const before = state({ domains: hostnames.map((hostname) => domain(hostname)) });
    const after = state({ domains: hostnames.map((hostname) => domain(hostname, { state: 'misconfigured' })) });
    const told = describeMove(before, after, SUNSETS, () => 'Shop');
    expect(told).toHaveLength(7);
    expect(told.at(-1)).toBe('1,994 more changes of domains.');
  });
});
