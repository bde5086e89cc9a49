import { describe, expect, it } from 'vitest';
import { describeMove, type TimedDomain, type TimedState } from '../../../main/services/clock.ts';

const SUNSETS = [{ operation: 'GET /pets/{petId}', atMs: 100 }];

type Leaf = TimedDomain['certificate'];
const WWW = 'www.acme.test';
const leaf = (state: Leaf['state'], notAfterMs: number | null, refusal: Leaf['refusal'] = null) => ({
  certificate: { state, notAfterMs, refusal },
});
const domain = (rest: Partial<TimedDomain> = {}): TimedDomain => ({
  ...{ hostname: WWW, projectId: 'prj_1', state: 'verified', lastCheckedAtMs: 1 },
  ...leaf('issued', 90),
  ...rest,
});

const limits = (minutes: number, days: number, bans: number) => ({ limits: { minutes, days, bans } });
const state = (rest: Partial<TimedState> = {}): TimedState => ({
  ...{ nowMs: 0, domains: [], ...limits(0, 0, 0), published: 0, breaks: new Map() },
  ...rest,
});
const ONE = { domains: [domain()] };
const changed = (rest: Partial<TimedDomain>) => ({ domains: [domain(rest)] });

describe('a move of the clock', () => {
  it.each<[string, Partial<TimedState>, Partial<TimedState>, string[]]>([
    ['nothing', {}, { nowMs: 50 }, []],
    ['a sunset', {}, { nowMs: 100 }, ['GET /pets/{petId} is removed: it answers 410.']],
    ['the way back past a sunset', { nowMs: 100 }, { nowMs: 99 }, ['GET /pets/{petId} answers again.']],
    [
      'rate windows and a ban',
      limits(3, 2, 1),
      limits(1, 1, 0),
      ['1 ban is over.', '2 per-minute limits have reset.', '1 daily limit has reset.'],
    ],
    ['windows that were begun meanwhile', {}, limits(1, 1, 0), []],
    [
      'a break',
      {
        breaks: new Map([
          ['a', '503'],
          ['b', 'Drill'],
        ]),
      },
      {},
      ['Ended: 503, Drill.'],
    ],
    ['propagation', { published: 3 }, { published: 5 }, ['2 DNS changes are visible now.']],
    ['a daily check with the same result', ONE, changed({ lastCheckedAtMs: 2 }), ['1 domain was checked again.']],
    [
      'a domain that moved away',
      ONE,
      changed({ lastCheckedAtMs: 2, state: 'misconfigured' }),
      ['1 domain was checked again.', `${WWW} (project Shop) is misconfigured.`],
    ],
    ['a renewal', ONE, changed(leaf('issued', 180)), [`The certificate of ${WWW} (project Shop) was renewed.`]],
    ['an expiry', ONE, changed(leaf('expired', 90)), [`The certificate of ${WWW} (project Shop) has expired.`]],
    [
      'a refusal',
      ONE,
      changed(leaf('pending', null, {} as Leaf['refusal'])),
      [`The certificate of ${WWW} (project Shop) is refused.`],
    ],
    // Nothing is to be done, as after the way back to the real time.
    [
      'a certificate to come',
      ONE,
      changed(leaf('pending', null)),
      [`The certificate of ${WWW} (project Shop) will be requested automatically.`],
    ],
    ['a domain that was attached meanwhile', {}, ONE, []],
  ])('reports %s', (_what, before, after, happened) => {
    expect(describeMove(state(before), state(after), SUNSETS, () => 'Shop')).toEqual(happened);
  });

  it('names the first domains, and counts the rest', () => {
    const hostnames = Array.from({ length: 2_000 }, (_, index) => `d${index}.test`);
    const all = (rest?: Partial<TimedDomain>) =>
      state({ domains: hostnames.map((hostname) => domain({ hostname, ...rest })) });
    const told = describeMove(all(), all({ state: 'misconfigured' }), SUNSETS, () => 'Shop');
    expect(told).toHaveLength(7);
    expect(told.at(-1)).toBe('1,994 more changes of domains.');
  });
});
