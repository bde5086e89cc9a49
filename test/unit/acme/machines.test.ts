import { describe, expect, test } from 'vitest';
import { stepAuthorization, stepChallenge, stepOrder } from '../../../main/acme/resources.ts';
import { AcmeError } from '../../../main/acme/problem.ts';

const ORDERS = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const;
const ORDER_EVENTS = ['authorized', 'failed', 'finalize', 'issue', 'expire'] as const;
const AUTHORIZATIONS = ['pending', 'valid', 'invalid', 'deactivated', 'expired'] as const;
const CHALLENGES = ['pending', 'processing', 'valid', 'invalid'] as const;

/** The next state, or the problem with its status. */
function outcome(step: () => string): string {
  try {
    return step();
  } catch (error) {
    if (error instanceof AcmeError) return `${error.type} ${error.status}`;
    throw error;
  }
}

describe('an order', () => {
  test('is finalized only when it is ready', () => {
    expect(ORDERS.map((state) => outcome(() => stepOrder(state, 'finalize')))).toEqual([
      'orderNotReady 403',
      'processing',
      ...Array.from({ length: 3 }, () => 'orderNotReady 403'),
    ]);
  });

  test('becomes valid only by a certificate, and only from processing', () => {
    const pairs = ORDERS.flatMap((state) => ORDER_EVENTS.map((event) => [state, event] as const));
    const valid = pairs.filter(
      ([state, event]) => state !== 'valid' && outcome(() => stepOrder(state, event)) === 'valid',
    );
    expect(valid).toEqual([['processing', 'issue']]);
  });

  test('stays valid or invalid, whatever happens', () => {
    for (const state of ['valid', 'invalid'] as const)
      for (const event of ORDER_EVENTS)
        expect([state, 'orderNotReady 403']).toContain(outcome(() => stepOrder(state, event)));
  });
});

describe('an authorization', () => {
  test('can be deactivated while it is open, and stays unchanged after that', () => {
    expect(AUTHORIZATIONS.map((state) => stepAuthorization(state, 'deactivate'))).toEqual([
      ...['deactivated', 'deactivated', 'invalid', 'deactivated', 'expired'],
    ]);
  });

  test('becomes valid only from pending', () => {
    expect(AUTHORIZATIONS.map((state) => stepAuthorization(state, 'validated'))).toEqual([
      ...['valid', 'valid', 'invalid', 'deactivated', 'expired'],
    ]);
  });
});

test('a challenge is validated after the client has responded', () => {
  expect(CHALLENGES.map((state) => outcome(() => stepChallenge(state, 'validated')))).toEqual([
    ...['malformed 400', 'valid', 'valid', 'invalid'],
  ]);
  expect(CHALLENGES.map((state) => stepChallenge(state, 'respond'))).toEqual([
    ...['processing', 'processing', 'valid', 'invalid'],
  ]);
});
