import { describe, expect, test } from 'vitest';
import { explainOrder, type OrderParts, keptVerdict } from '../../../main/acme/explain.ts';
import { createStyle } from '../../../main/cli/text/text.ts';
import { renderFor } from '../../../main/cli/words/ask.ts';
import type { CaaVerdict } from '../../../main/contract/certificates.ts';
import type { AcmeAuthorization, AcmeCertificate, AcmeChallenge, AcmeOrder } from '../../../main/model/acme.ts';

const PLAIN = { style: createStyle(false), width: null };

const ORDER: AcmeOrder = {
  ...{ id: 'o1', accountId: 'a1', profile: 'classic', status: 'pending', authorizationIds: ['z1'] },
  identifiers: [{ type: 'dns', value: '*.acme.test' }],
  ...{ createdAtMs: 0, expiresAtMs: 86_400_000 },
};
const ACCOUNT = { id: 'a1', key: {}, thumbprint: 't', status: 'valid', contact: [], createdAtMs: 0 } as const;

const authorization = (
  challenge: Partial<AcmeChallenge>,
  more: Partial<AcmeAuthorization> = {},
): AcmeAuthorization => ({
  ...{ id: 'z1', accountId: 'a1', identifier: { type: 'dns', value: 'acme.test' }, wildcard: true },
  ...{ status: 'pending', createdAtMs: 0, expiresAtMs: 3_600_000, validForMs: 3_600_000, token: 't' },
  challenges: [{ type: 'dns-01', status: 'pending', attempts: [], ...challenge }],
  ...more,
});

const explain = (order: Partial<AcmeOrder>, of: AcmeAuthorization, more: Partial<OrderParts> = {}) => {
  const none = { certificate: null, revocation: null, clock: { offsetMs: 0 } };
  return explainOrder({ ...ORDER, ...order }, { account: ACCOUNT, authorizations: [of], ...none, ...more });
};

const stepsOf = ({ walk }: ReturnType<typeof explain>) => walk.map(({ step, state }) => `${step} ${state}`);

const RECORD = 'acme.test. CAA 0 issue ";"';
const FORBIDDEN: CaaVerdict = {
  verdict: 'forbidden',
  foundAt: 'acme.test',
  message: `vivarium.localhost must not issue. ${RECORD}`,
  change: 'Remove it.',
  edits: [{ action: 'remove', name: 'acme.test', value: '0 issue ";"' }],
  decisive: [RECORD],
  trace: [{ name: 'acme.test', records: [RECORD], decision: 'forbid', reason: 'No record names the CA.' }],
  warnings: [],
};

describe('the explanation of an order', () => {
  test('shows that it waits for its client', () => {
    const explained = explain({}, authorization({}));
    expect(explained.message).toBe('The client has yet to prove control of *.acme.test.');
    expect(stepsOf(explained)).toEqual(['account done', '*.acme.test: dns-01 waiting', 'certificate waiting']);
  });

  test('shows a refusal by CAA, with the record and the query', () => {
    const detail = FORBIDDEN.message;
    const error = { type: 'caa', detail, status: 403 };
    const attempts = [{ what: '_acme-challenge.acme.test TXT', found: '"x"' }];
    const of = authorization(
      { status: 'invalid', error, attempts },
      { status: 'invalid', caa: { atMs: 0, message: detail, verdict: FORBIDDEN } },
    );
    const explained = explain({ status: 'invalid', error }, of);
    expect(explained.message).toContain(detail);
    const checked = ['*.acme.test: dns-01 done', '*.acme.test: CAA failed'];
    expect(stepsOf(explained)).toEqual(['account done', ...checked, 'certificate failed']);
    expect(renderFor('acme.explain', explained, PLAIN).split('\n')).toEqual([
      '*.acme.test, profile classic: invalid',
      `The order failed. ${detail}`,
      '',
      'account              done    Account a1, valid, with no contact.',
      '*.acme.test: dns-01  done    The client has proved control of the name, but CAA forbids the certificate.',
      '    _acme-challenge.acme.test TXT: "x"',
      `*.acme.test: CAA     failed  ${detail}`,
      '    No record names the CA.',
      'certificate          failed  No certificate was issued.',
      '',
    ]);
  });

  test('shows how long its record lets other orders use the validation', () => {
    const { walk } = explain({}, authorization({ status: 'valid' }, { status: 'valid', reusableUntilMs: 60_000 }));
    expect(walk.find(({ step }) => step.endsWith('authorization'))?.message).toBe(
      'It may be used until 1970-01-01T01:00:00.000Z, and by other orders until 1970-01-01T00:01:00.000Z.',
    );
  });

  test('shows a refusal by CAA at finalization, after CAA had allowed the validation', () => {
    const of = authorization(
      { status: 'valid' },
      { status: 'valid', caa: { atMs: 0, message: FORBIDDEN.message, verdict: FORBIDDEN } },
    );
    const { walk } = explain({ status: 'invalid' }, of);
    expect(walk.find(({ caa }) => caa !== undefined)).toMatchObject({ state: 'failed', caa: { decisive: [RECORD] } });
  });

  test('shows its certificate with the renewal date, and its revocation', () => {
    const certificate: AcmeCertificate = {
      ...{ serial: '0A', accountId: 'a1', orderId: 'o1', identifiers: ORDER.identifiers, pem: 'PEM', issuerKey: 'ff' },
      ...{ notBeforeMs: 0, notAfterMs: 90 * 86_400_000, wireNotBeforeMs: 0, wireNotAfterMs: 90 * 86_400_000 },
      replacedBy: 'o2',
    };
    const order = { status: 'valid', serial: '0A' } as const;
    const of = authorization({ status: 'valid' }, { status: 'valid' });
    expect(explain(order, of, { certificate }).leaf).toEqual({
      ...{ serial: '0A', pem: 'PEM', replacedBy: 'o2' },
      ...{ notBefore: '1970-01-01T00:00:00.000Z', wireNotBefore: '1970-01-01T00:00:00.000Z' },
      ...{ notAfter: '1970-04-01T00:00:00.000Z', wireNotAfter: '1970-04-01T00:00:00.000Z' },
      renewal: { from: '1970-03-01T02:24:00.000Z', until: '1970-03-02T21:36:00.000Z' },
    });
    const revocation = { atMs: 86_400_000, wireAtMs: 86_400_000, reason: 'superseded' } as const;
    expect(explain(order, of, { certificate, revocation })).toMatchObject({
      message: 'The certificate was issued, and revoked.',
      leaf: {
        revoked: { at: '1970-01-02T00:00:00.000Z', reason: 'superseded' },
        renewal: { from: '1970-01-01T23:00:00.000Z', until: '1970-01-01T23:30:00.000Z' },
      },
    });
  });
});

describe('a stored walk over CAA', () => {
  test('is complete if it is small', () => expect(keptVerdict(FORBIDDEN)).toEqual(FORBIDDEN));

  test('contains the deciding records if there are many or long ones, cut off, but no edit that is cut off', () => {
    const others = Array.from({ length: 500 }, (_, index) => `acme.test. CAA 0 iodef "mailto:${index}@acme.test"`);
    const long = `acme.test. CAA 0 issue "${'x'.repeat(60_000)}"`;
    const [step] = FORBIDDEN.trace;
    if (step === undefined) throw new Error('There is one.');
    const edits = [{ action: 'remove', name: 'acme.test', value: long }] as const;
    const trace = [{ ...step, records: [...others, long] }];
    const kept = keptVerdict({ ...FORBIDDEN, edits: [...edits], decisive: [long], trace });
    expect(JSON.stringify(kept).length).toBeLessThan(5_000);
    expect(kept.trace[0]?.records[0]).toBe(kept.decisive[0]);
    expect(kept.edits).toEqual([]);
  });
});
