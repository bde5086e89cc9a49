import { describe, expect, test } from 'vitest';
import { type Outcome, corroborate, corroborateCaa, disagreementsAllowed } from '../../../main/acme/outcome.ts';
import { AcmeError } from '../../../main/acme/problem.ts';
import type { CaaVerdict } from '../../../main/contract/certificates.ts';

const GOOD: Outcome = { attempts: [{ what: 'app.acme.test TXT', found: '"right"' }], error: null };
const BAD: Outcome = {
  attempts: [{ what: 'app.acme.test TXT', found: '"wrong"' }],
  error: new AcmeError('unauthorized', 'No TXT record has the value.'),
};

/** Remote perspectives, the first of which disagree. */
const remotes = <Result>(count: number, disagree: number, good: Result, bad: Result) =>
  Array.from({ length: count }, (_, index) => ({
    by: `perspective ${index + 1}`,
    result: index < disagree ? bad : good,
  }));

// Baseline Requirements 3.2.2.9: of 2 to 5 remote perspectives one may disagree, of 6 and more two.
const QUORUM = [
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 1],
  [5, 1],
  [6, 2],
  [10, 2],
] as const;

describe.each(QUORUM)('of %i remote perspectives', (count, allowed) => {
  test(`${allowed} may disagree`, () => {
    expect(disagreementsAllowed(count)).toBe(allowed);
    for (let disagree = 0; disagree <= count; disagree++) {
      const { error } = corroborate(GOOD, remotes(count, disagree, GOOD, BAD));
      expect(error?.detail ?? 'valid').toBe(
        disagree <= allowed ? 'valid' : 'During secondary validation, perspective 1: No TXT record has the value.',
      );
      expect(error?.type ?? 'valid').toBe(disagree <= allowed ? 'valid' : 'unauthorized');
    }
  });

  test(`${allowed} may disagree about CAA`, () => {
    for (let disagree = 0; disagree <= count; disagree++) {
      const verdict = corroborateCaa(caa('allowed'), remotes(count, disagree, caa('allowed'), caa('forbidden')));
      expect(verdict.verdict).toBe(disagree <= allowed ? 'allowed' : 'forbidden');
    }
  });
});

const caa = (verdict: CaaVerdict['verdict']): CaaVerdict => ({
  ...{ verdict, message: `It is ${verdict}.`, change: '', edits: [], decisive: [], trace: [], warnings: [] },
});

test('the attempts name each perspective’s finding, and how many agree', () => {
  const unreached: Outcome = { attempts: [], error: new AcmeError('dns', 'There was no answer.') };
  const seen = [...remotes(2, 1, GOOD, BAD), { by: 'perspective 3', result: unreached }];
  expect(corroborate(GOOD, seen).attempts).toEqual([
    { what: 'app.acme.test TXT', found: '"right"' },
    { what: 'perspective 1: app.acme.test TXT', found: '"wrong"' },
    { what: 'perspective 2: app.acme.test TXT', found: '"right"' },
    { what: 'perspective 3', found: 'There was no answer.' },
    { what: 'perspectives that agree', found: '1 of 3 agree, and 1 may disagree' },
  ]);
});

test('a failure at the primary perspective remains a failure, whatever others see', () => {
  expect(corroborate(BAD, remotes(3, 0, GOOD, BAD))).toBe(BAD);
  const forbidden = caa('forbidden');
  expect(corroborateCaa(forbidden, remotes(3, 0, caa('allowed'), forbidden))).toBe(forbidden);
});

test('a record is reused no longer than the shortest TTL that any perspective has seen', () => {
  const seen = (reuseMs: number): Outcome => ({ ...GOOD, reuseMs });
  expect(corroborate(seen(3_000), remotes(3, 1, seen(2_000), seen(1_000))).reuseMs).toBe(1_000);
});

test('a failed remote lookup is a disagreement about CAA, and a tolerated one is reported', () => {
  const verdicts = remotes(3, 2, caa('allowed'), caa('lookup_failed'));
  expect(corroborateCaa(caa('allowed'), verdicts)).toMatchObject({
    verdict: 'lookup_failed',
    message: 'During secondary validation, perspective 1: It is lookup_failed.',
  });
  expect(corroborateCaa(caa('allowed'), verdicts.slice(1)).message).toBe(
    'It is allowed. Of the remote perspectives, 1 of 2 agree, and 1 may disagree; perspective 2: It is lookup_failed.',
  );
});
