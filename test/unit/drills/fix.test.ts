import { expect, it } from 'vitest';
import type { Domain } from '../../../main/contract/domains.ts';
import type { DrillFix } from '../../../main/drills/drill.ts';
import { type FixFacts, missingFor, type SeenRequest } from '../../../main/drills/fix.ts';

const GROUND = { projectId: 'prj_1', hostname: 'drill.test', keyId: 'key_1', secret: 'viv_1', serial: '0a' };

const seen = (atS: number, more: Partial<SeenRequest> = {}): SeenRequest => ({
  atMs: atS * 1_000,
  realAtMs: Date.parse('2026-11-23T10:00:00Z') + atS * 1_000,
  ...{ caller: 'key_1', keyId: 'key_1', method: 'GET', isHttp2: false, status: 200, retryAfter: null },
  ...{ durationMs: 5, isAborted: false, isHit: false },
  ...more,
});
const requests = (...all: SeenRequest[]): Partial<FixFacts> => ({ requests: all });
const refused = (atS: number, retryAfter: string) => seen(atS, { status: 429, retryAfter });
const DATE = 'Mon, 23 Nov 2026 10:00:30 GMT';
const failedPost = (atS: number) => seen(atS, { method: 'POST', status: 500, isHit: true });
const LEFT = { isHit: true, isAborted: true };

const DOMAIN: Domain = {
  ...{ hostname: 'shop.drill.test', projectId: 'prj_1', kind: 'subdomain', state: 'verified' },
  ...{ certificate: { state: 'issued' }, instructions: [], serving: { http: true, https: true }, primary: false },
  checks: [{ code: 'wildcard_risk', outcome: 'warning', message: 'A wildcard.' }],
  attachedAt: '2026-11-23T10:00:00Z',
};
const WAITED = { kind: 'waited' } as const;
const GAVE_UP = { kind: 'gave up', withinMs: 10_000 } as const;
const CHECKED = { kind: 'checked first' } as const;
const ANSWERED = { kind: 'answered' } as const;
const NEW_KEY = { ...ANSWERED, withNewKey: true } as const;
const SERVES = { kind: 'serves', hostname: 'shop.drill.test' } as const;
const domain = (more: Partial<Domain>): Partial<FixFacts> => ({ domain: { ...DOMAIN, ...more } });

it.each<[DrillFix, Partial<FixFacts>, string | null]>([
  [WAITED, {}, 'No request has been refused yet.'],
  [WAITED, requests(refused(0, '5')), 'and none came after it'],
  [WAITED, requests(refused(0, '5'), seen(4)), 'the next request came too early'],
  [WAITED, requests(refused(0, '5'), refused(1, '4'), seen(5)), null],
  [WAITED, requests(refused(0, '5'), seen(1, { caller: 'other' }), seen(5)), null],
  [WAITED, requests(refused(0, '5'), seen(5, { status: 500 })), 'refused'],
  [WAITED, requests(refused(0, DATE), seen(29)), 'too early'],
  [WAITED, requests(refused(0, DATE), seen(30)), null],
  [GAVE_UP, {}, 'within 10 s'],
  [GAVE_UP, requests(seen(0, { ...LEFT, durationMs: 10_001 })), 'within'],
  [GAVE_UP, requests(seen(0, { isAborted: true })), 'within'],
  [GAVE_UP, requests(seen(0, LEFT)), null],
  [GAVE_UP, { foundAtMs: 1, ...requests(seen(0, LEFT)) }, 'No client has given up'],
  [CHECKED, requests(seen(0, { method: 'POST' })), 'No request has failed'],
  [CHECKED, requests(failedPost(0)), 'has not checked the list'],
  [CHECKED, requests(failedPost(0), failedPost(1)), 'has not checked the list'],
  [CHECKED, requests(failedPost(0), seen(1, { method: 'PUT' })), 'the next request was PUT'],
  [CHECKED, requests(failedPost(0), failedPost(1), seen(2)), null],
  [{ kind: 'over HTTP/2' }, requests(seen(0), seen(1, { isHttp2: true, status: 401 })), 'over HTTP/2'],
  [{ kind: 'over HTTP/2' }, requests(seen(0, { isHttp2: true }), seen(1, { status: null })), null],
  [ANSWERED, {}, 'There has been no request yet.'],
  [ANSWERED, requests(seen(0), seen(1, { status: 502 })), 'answered with 502'],
  [ANSWERED, requests(seen(0, { status: null })), 'answered with nothing'],
  [ANSWERED, requests(seen(0, { status: 502 }), seen(1)), null],
  [NEW_KEY, requests(seen(0)), 'did not use a new API key'],
  [NEW_KEY, requests(seen(0, { keyId: null })), 'did not use a new API key'],
  [NEW_KEY, requests(seen(0, { keyId: 'key_2' })), null],
  [SERVES, {}, 'is not attached'],
  [SERVES, domain({ projectId: 'prj_2' }), 'is not attached to the practice project'],
  [SERVES, domain({ state: 'pending' }), 'is pending'],
  [SERVES, domain({ checks: [{ code: 'a_conflict', outcome: 'failed', message: 'Two.' }] }), 'Two.'],
  [SERVES, domain({ certificate: { state: 'pending' } }), 'is pending'],
  [SERVES, domain({}), null],
  [{ ...SERVES, renewed: true }, { ...domain({}), certificate: { serial: '0a' } }, 'Renew it'],
  [{ ...SERVES, renewed: true }, { ...domain({}), certificate: { serial: '0b' } }, null],
  [ANSWERED, { isThere: false, ...requests(seen(0)) }, 'The practice project was removed'],
])('of %j with %j is incomplete: %s', (fix, facts, expected) => {
  const found = missingFor(fix, {
    ...{ ground: GROUND, isThere: true, foundAtMs: 0, requests: [], domain: null, certificate: null },
    ...facts,
  });
  expect(found).toEqual(expected === null ? null : expect.stringContaining(expected));
});
