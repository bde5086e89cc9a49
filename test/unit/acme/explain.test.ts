import { describe, expect, test } from 'vitest';
import { explainOrder } from '../../../main/acme/explain.ts';
import { createStyle } from '../../../main/cli/text.ts';
import { renderFor } from '../../../main/cli/views.ts';
import type { AcmeAuthorization, AcmeChallenge, AcmeOrder } from '../../../main/model/acme.ts';

const PLAIN = { style: createStyle(false), width: null };

const ORDER: AcmeOrder = {
  id: 'o1',
  accountId: 'a1',
  profile: 'classic',
  status: 'pending',
  identifiers: [{ type: 'dns', value: '*.acme.test' }],
  authorizationIds: ['z1'],
  createdAtMs: 0,
  expiresAtMs: 86_400_000,
};
const ACCOUNT = { id: 'a1', key: {}, thumbprint: 't', status: 'valid', contact: [], createdAtMs: 0 } as const;

const authorization = (
  challenge: Partial<AcmeChallenge>,
  more: Partial<AcmeAuthorization> = {},
): AcmeAuthorization => ({
  id: 'z1',
  accountId: 'a1',
  identifier: { type: 'dns', value: 'acme.test' },
  wildcard: true,
  status: 'pending',
  createdAtMs: 0,
  expiresAtMs: 3_600_000,
  validForMs: 3_600_000,
  token: 't',
  challenges: [{ type: 'dns-01', status: 'pending', attempts: [], ...challenge }],
  ...more,
});

const explain = (order: Partial<AcmeOrder>, of: AcmeAuthorization) =>
  explainOrder({ ...ORDER, ...order }, { account: ACCOUNT, authorizations: [of], certificate: null, revoked: false });

describe('an order is explained', () => {
  test('that waits for its client', () => {
    const { message, walk } = explain({}, authorization({}));
    expect(message).toBe('The client still has to prove control of *.acme.test.');
    expect(walk.map(({ step, state }) => [step, state])).toEqual([
      ['account', 'done'],
      ['*.acme.test: dns-01', 'waiting'],
      ['certificate', 'waiting'],
    ]);
  });

  test('that CAA refused, with the record and what was asked', () => {
    const detail = 'vivarium.localhost must not issue. acme.test. CAA 0 issue ";"';
    const error = { type: 'caa', detail, status: 403 };
    const attempts = [{ what: '_acme-challenge.acme.test TXT', found: '"x"' }];
    const of = authorization(
      { status: 'invalid', error, attempts },
      { status: 'invalid', caa: { atMs: 0, message: detail } },
    );
    const explained = explain({ status: 'invalid', error }, of);
    expect(explained.message).toContain(detail);
    expect(explained.walk.map(({ step, state }) => [step, state])).toEqual([
      ['account', 'done'],
      ['*.acme.test: dns-01', 'done'],
      ['*.acme.test: CAA', 'failed'],
      ['certificate', 'failed'],
    ]);
    expect(renderFor('acme.explain', explained, PLAIN)).toBe(
      [
        '*.acme.test, profile classic: invalid',
        `The order failed. ${detail}`,
        '',
        'account              done    Account a1, valid, with no contact.',
        '*.acme.test: dns-01  done    The client has proved control of the name, but CAA forbids the certificate.',
        '    _acme-challenge.acme.test TXT: "x"',
        `*.acme.test: CAA     failed  ${detail}`,
        'certificate          failed  None is issued.',
        '',
      ].join('\n'),
    );
  });
});
