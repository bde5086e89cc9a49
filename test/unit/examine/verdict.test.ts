import { describe, expect, it } from 'vitest';
import {
  contentOf,
  differenceOf,
  repetitionIn,
  compareCalm,
  judge,
  namesFault,
  resultsOf,
  type TestRun,
} from '../../../main/examine/verdict.ts';

const pet = (id: number, name: string) => ({ id, name, categoryId: 1 });
const worldOf = (...names: string[]) =>
  contentOf({ projects: { shop: { pets: names.map((name, id) => pet(id, name)) } } });

const CALM = {
  tests: ['lists', 'creates'],
  hasLeft: false,
  passed: true,
  worlds: [worldOf('Ida', 'Rex'), worldOf('Rex', 'Ida')] as const,
  writes: new Map([['["POST","/v1/pets","Rex"]', 1]]),
};
const PASSED = { name: 'lists', outcome: 'passed' } as const;
const RUN: TestRun = {
  results: [PASSED, { name: 'creates', outcome: 'passed' }],
  ...{ passed: true, hung: false, ms: 1_000, tail: '' },
};
const failing = (message: string): TestRun => ({
  ...RUN,
  passed: false,
  results: [PASSED, { name: 'creates', outcome: 'failed', message }],
});
const SAME = { content: worldOf('Rex', 'Ida'), writes: CALM.writes };
const LESS = { ...SAME, content: worldOf('Ida') };
const TWICE = { ...SAME, writes: new Map([['["POST","/v1/pets","Rex"]', 2]]) };
const MORE = new Map([...CALM.writes, ['["POST","/v1/pets","Tom"]', 1]] as const);
const exits = (more: Partial<TestRun>): TestRun => ({ ...RUN, passed: false, ...more });

describe('a row is', () => {
  type Traces = Parameters<typeof judge>[1];
  it.each<[string, TestRun, number | null, string, Traces?, RegExp?]>([
    ['survived', RUN, 503, 'survived'],
    [
      'failed as it should if only the command fails, and names the fault',
      exits({ tail: 'Uncaught Error: HTTP 503\n    at ask (client.mjs:5:3)' }),
      503,
      'failed_as_it_should',
      SAME,
      /^All tests pass, and the command fails: Uncaught Error: HTTP 503$/,
    ],
    [
      'wrong if only the command fails, and does not name the fault',
      exits({ tail: 'TypeError: name is undefined' }),
      503,
      'wrong',
      SAME,
      /without naming the fault: TypeError/,
    ],
    [
      'survived if a test that is left out fails the command',
      exits({ results: [...RUN.results, { name: 'flickers', outcome: 'failed' }] }),
      503,
      'survived',
    ],
    ['failed as it should if a message names the fault', failing('HTTP Error 503'), 503, 'failed_as_it_should'],
    ['failed as it should if there is no message', failing(''), 503, 'failed_as_it_should'],
    ['wrong if a test fails and does not name it', failing('expected 3, got 0'), 503, 'wrong'],
    [
      'wrong if only a path in its stack has such a word',
      failing('expected 3, got 0\n    at ask (file:///socket/client.mjs:5:3)\n test at proxy.test.mjs:1:1'),
      null,
      'wrong',
    ],
    [
      'wrong if only the code of an assertion has such a word',
      failing("expected 3, got 0 {\n    generatedMessage: true,\n    code: 'ERR_ASSERTION',\n    [cause]: undefined }"),
      null,
      'wrong',
    ],
    ['wrong if the world differs', RUN, 503, 'wrong', LESS, /0 instead of 1 of .*Rex/],
    ['failed if a failed test left less', failing('503'), 503, 'failed_as_it_should', LESS],
    [
      'wrong if a failed test left two',
      failing('500'),
      500,
      'wrong',
      { ...SAME, content: worldOf('Ida', 'Rex', 'Rex') },
    ],
    ['wrong if the target did it twice', RUN, 500, 'wrong', TWICE, /carried out 2 equal POST \/v1\/pets; .* was 1/],
    ['wrong if a failed test made it do so', failing('expected 41, got 42'), 500, 'wrong', TWICE, /2 equal/],
    [
      'failed if a failed test wrote something else, once',
      failing('500'),
      500,
      'failed_as_it_should',
      { content: worldOf('Ida', 'Rex', 'Tom'), writes: MORE },
    ],
    ['hung, not wrong, if a run that was ended left less', exits({ hung: true }), null, 'hung', LESS],
    ['hung', exits({ hung: true, results: [PASSED] }), null, 'hung', SAME, /after 1 s/],
    ['failed if a test is missing', exits({ results: [], tail: 'ECONNRESET' }), null, 'failed_as_it_should'],
  ])('%s', (_name, run, struck, verdict, traces = SAME, message = /^/) => {
    const judged = judge(run, traces, CALM, [struck]);
    expect(judged.verdict).toBe(verdict);
    expect(judged.message ?? '').toMatch(message);
    expect(judged.tests.map(({ name }) => name)).toEqual(CALM.tests);
  });

  it('failed as it should in all tests, if one names the fault that the others follow from', () => {
    const results = [
      { name: 'lists', outcome: 'failed' as const, message: 'expected 41, got 40' },
      { name: 'creates', outcome: 'failed' as const, message: '401 Unauthorized' },
    ];
    const { tests } = judge(exits({ results }), SAME, CALM, [401]);
    expect(tests.map(({ verdict }) => verdict)).toEqual(['failed_as_it_should', 'failed_as_it_should']);
  });
});

it('a test says what it says itself, of an output the end, and of a run that was ended that it had not ended', () => {
  const said = (run: Partial<TestRun>) =>
    judge({ ...failing('503 for Rex\n... 2 lines matching cause stack trace ...'), ...run }, SAME, CALM, [503])
      .tests[1];
  expect(said({})?.message).toBe('503 for Rex');
  const tail = `${'as usual '.repeat(100)}E   HTTPError: 503`;
  expect(said({ results: [PASSED], tail })?.message).toMatch(/^It was not reported. ….{280,}E HTTPError: 503$/);
  const failed = { name: 'creates', outcome: 'failed', message: tail } as const;
  expect(said({ results: [PASSED, failed], tail })?.message).toMatch(/^….*HTTPError: 503$/);
  const running = { verdict: 'hung', message: 'It was running, or had not begun.' };
  expect(said({ results: [PASSED], hung: true })).toMatchObject(running);
  expect(resultsOf({ results: [], passed: false, hung: true, tail: '' }, 'npm test')).toEqual([]);
});

it('what fails or flickers without faults is left out', () => {
  const of = (...outcomes: ('passed' | 'failed' | 'skipped')[]) =>
    outcomes.map((outcome, index) => ({ name: `t${index}`, outcome }));
  const { tests, left } = compareCalm(
    of('passed', 'failed', 'passed', 'skipped'),
    of('passed', 'failed', 'failed', 'skipped'),
  );
  expect(tests).toEqual(['t0']);
  expect(left.map(({ name, why }) => `${name} ${why}`)).toEqual(['t1 fails', 't2 flickers']);
});

it.each<[string, (number | null)[], boolean]>([
  ['AssertionError: 503 !== 200', [503], true],
  ['AssertionError: 503 !== 200', [429], false],
  ['it costs 5030', [503], false],
  ['rate limit exceeded', [429], true],
  ['InvalidHeader: Invalid Retry-After header: soon', [503], true],
  ['TypeError: fetch failed', [null], true],
  ['read: connection reset by peer', [201], true],
  ['expected 41, got 42', [null], false],
])('the message %j and the statuses %j: %s', (message, statuses, named) => {
  expect(namesFault(message, statuses)).toBe(named);
});

describe('the world', () => {
  it('is compared by content, without ids, times and order', () => {
    const one = contentOf({ orders: { shop: [{ id: '1', petId: '7', quantity: 2, createdAt: 'x' }] }, clock: 1 });
    const other = contentOf({ orders: { shop: [{ quantity: 2, createdAt: 'y', id: '2', petId: '9' }] }, clock: 2 });
    expect(differenceOf([one, one], other)).toBeNull();
    expect(differenceOf(CALM.worlds, worldOf('Rex', 'Ida'))).toBeNull();
    const twice = differenceOf(CALM.worlds, worldOf('Rex', 'Ida', 'Rex'));
    expect(twice).toMatch(/2 instead of 1 of projects\.shop\.pets: .*Rex/);
  });

  it('is compared by numbers where the runs without faults differ', () => {
    const random = [worldOf('Ida', 'a1'), worldOf('Ida', 'b2')] as const;
    expect(differenceOf(random, worldOf('Ida', 'c3'))).toBeNull();
    expect(differenceOf(random, worldOf('Ida', 'c3', 'c3'))).toMatch(/3 instead of 2/);
    expect(differenceOf([worldOf('a'), worldOf('a', 'b')], worldOf())).toBeNull();
    expect(repetitionIn(CALM.worlds, worldOf('x', 'x'))).toMatch(/2 instead of 0/);
  });
});
