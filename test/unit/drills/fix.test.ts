import { expect, it } from 'vitest';
import type { Domain } from '../../../main/contract/domains.ts';
import type { DrillFix } from '../../../main/drills/drill.ts';
import { type FixFacts, missingFor, type SeenRequest } from '../../../main/drills/fix.ts';

const GROUND = { projectId: 'prj_1', hostname: 'drill.test', keyId: 'key_1', secret: 'viv_1', serial: '0a' };

const seen = (atS: number, more: Partial<SeenRequest> = {}): SeenRequest => ({
  atMs: atS * 1_000,
  realAtMs: Date.parse('2026-11-23T10:00:00Z') + atS * 1_000,
  caller: 'key_1',
  keyId: 'key_1',
  method: 'GET',
  isHttp2: false,
  status: 200,
  retryAfter: null,
  durationMs: 5,
  isAborted: false,
  isHit: false,
  ...more,
});
const refused = (atS: number, retryAfter: string) => seen(atS, { status: 429, retryAfter });
const DATE = 'Mon, 23 Nov 2026 10:00:30 GMT';
const failedPost = (atS: number) => seen(atS, { method: 'POST', status: 500, isHit: true });

const DOMAIN: Domain = {
  hostname: 'shop.drill.test',
  projectId: 'prj_1',
  kind: 'subdomain',
  state: 'verified',
  certificate: { state: 'issued' },
  instructions: [],
  checks: [{ code: 'wildcard_risk', outcome: 'warning', message: 'A wildcard.' }],
  serving: { http: true, https: true },
  primary: false,
  attachedAt: '2026-11-23T10:00:00Z',
};
const SERVES = { kind: 'serves', hostname: 'shop.drill.test' } as const;
const domain = (more: Partial<Domain>): Partial<FixFacts> => ({ domain: { ...DOMAIN, ...more } });

it.each<[DrillFix, Partial<FixFacts>, string | null]>([
  [{ kind: 'waited' }, {}, 'No request has been refused yet.'],
  [{ kind: 'waited' }, { requests: [refused(0, '5')] }, 'and none came after it'],
  [{ kind: 'waited' }, { requests: [refused(0, '5'), seen(4)] }, 'the next request came too early'],
  [{ kind: 'waited' }, { requests: [refused(0, '5'), refused(1, '4'), seen(5)] }, null],
  [{ kind: 'waited' }, { requests: [refused(0, '5'), seen(1, { caller: 'other' }), seen(5)] }, null],
  [{ kind: 'waited' }, { requests: [refused(0, '5'), seen(5, { status: 500 })] }, 'refused'],
  [{ kind: 'waited' }, { requests: [refused(0, DATE), seen(29)] }, 'too early'],
  [{ kind: 'waited' }, { requests: [refused(0, DATE), seen(30)] }, null],
  [{ kind: 'gave up', withinMs: 10_000 }, {}, 'within 10 s'],
  [
    { kind: 'gave up', withinMs: 10_000 },
    { requests: [seen(0, { isHit: true, isAborted: true, durationMs: 10_001 })] },
    'within',
  ],
  [{ kind: 'gave up', withinMs: 10_000 }, { requests: [seen(0, { isAborted: true })] }, 'within'],
  [{ kind: 'gave up', withinMs: 10_000 }, { requests: [seen(0, { isHit: true, isAborted: true })] }, null],
  [
    { kind: 'gave up', withinMs: 10_000 },
    { foundAtMs: 1, requests: [seen(0, { isHit: true, isAborted: true })] },
    'No client has given up',
  ],
  [{ kind: 'checked first' }, { requests: [seen(0, { method: 'POST' })] }, 'No request has failed'],
  [{ kind: 'checked first' }, { requests: [failedPost(0)] }, 'has not checked the list'],
  [{ kind: 'checked first' }, { requests: [failedPost(0), failedPost(1)] }, 'has not checked the list'],
  [{ kind: 'checked first' }, { requests: [failedPost(0), seen(1, { method: 'PUT' })] }, 'the next request was PUT'],
  [{ kind: 'checked first' }, { requests: [failedPost(0), failedPost(1), seen(2)] }, null],
  [{ kind: 'over HTTP/2' }, { requests: [seen(0), seen(1, { isHttp2: true, status: 401 })] }, 'over HTTP/2'],
  [{ kind: 'over HTTP/2' }, { requests: [seen(0, { isHttp2: true }), seen(1, { status: null })] }, null],
  [{ kind: 'answered' }, {}, 'There has been no request yet.'],
  [{ kind: 'answered' }, { requests: [seen(0), seen(1, { status: 502 })] }, 'answered with 502'],
  [{ kind: 'answered' }, { requests: [seen(0, { status: null })] }, 'answered with nothing'],
  [{ kind: 'answered' }, { requests: [seen(0, { status: 502 }), seen(1)] }, null],
  [{ kind: 'answered', withNewKey: true }, { requests: [seen(0)] }, 'did not use a new API key'],
  [{ kind: 'answered', withNewKey: true }, { requests: [seen(0, { keyId: null })] }, 'did not use a new API key'],
  [{ kind: 'answered', withNewKey: true }, { requests: [seen(0, { keyId: 'key_2' })] }, null],
  [SERVES, {}, 'is not attached'],
  [SERVES, domain({ projectId: 'prj_2' }), 'is not attached to the practice project'],
  [SERVES, domain({ state: 'pending' }), 'is pending'],
  [SERVES, domain({ checks: [{ code: 'a_conflict', outcome: 'failed', message: 'Two.' }] }), 'Two.'],
  [SERVES, domain({ certificate: { state: 'pending' } }), 'is pending'],
  [SERVES, domain({}), null],
  [{ ...SERVES, renewed: true }, { ...domain({}), certificate: { serial: '0a' } }, 'Renew it'],
  [{ ...SERVES, renewed: true }, { ...domain({}), certificate: { serial: '0b' } }, null],
  [{ kind: 'answered' }, { isThere: false, requests: [seen(0)] }, 'The practice project was removed'],
])('of %j with %j is incomplete: %s', (fix, facts, expected) => {
  const found = missingFor(fix, {
    ...{ ground: GROUND, isThere: true, foundAtMs: 0, requests: [], domain: null, certificate: null },
    ...facts,
  });
  expect(found === null ? null : found).toEqual(expected === null ? null : expect.stringContaining(expected));
});
