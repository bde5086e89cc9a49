import { describe, expect, it } from 'vitest';
import { OUTPUT_MAX, readResults } from '../../../main/examine/results.ts';

const NODE_TAP = `TAP version 13
# Subtest: one
ok 1 - one
  ---
  duration_ms: 1.8
  ...
# Subtest: skipped
ok 2 - skipped # SKIP
# Subtest: group
    # Subtest: inner
    not ok 1 - inner
      ---
      duration_ms: 2.3
      location: '/tmp/a.test.mjs:3:1'
      error: |-
        Expected values to be strictly equal:

        503 !== 200
      code: 'ERR_ASSERTION'
      stack: |-
        not ok 7 - a line of a stack
      ...
    1..1
not ok 3 - group
  ---
  error: '1 subtest failed'
  ...
1..3
`;

const SPEC = `✔ one (1.8ms)
﹣ later (0.1ms) # SKIP
▶ group
  ✔ inner (0.3ms)
  ✖ bad: a (b) (153.4ms)
✖ group (154.2ms)
ℹ tests 4
ℹ fail 1

✖ failing tests:

test at a.test.mjs:5:53
✖ bad: a (b) (153.4ms)
  TypeError: fetch failed
      at node:internal/deps/undici/undici:14976:13

test at b.test.mjs:1:1
⚠ talks (2.5ms) # todo
  Error: answered 503 Service Unavailable
`;

const VITEST_TAP = `TAP version 13
1..1
not ok 1 - a.test.js # time=278.96ms {
    1..2
    ok 1 - one # time=2.13ms
    not ok 2 - g # time=263.75ms {
        1..1
        not ok 1 - inner # time=262.70ms
            ---
            error:
                message: "fetch failed"
            ...
    }
}
`;

const JUNIT = `<?xml version="1.0"?>
<testsuites><testsuite name="s">
<testcase classname="api" name="lists &gt; pets" time="0.1"/>
<testcase classname='api' name='a > b'><failure message="expected 41">AssertionError: got <![CDATA[42]]></failure></testcase>
<testcase name="later"><skipped/></testcase>
</testsuite></testsuites>`;

const GO = `{"Action":"start","Package":"shop"}
{"Action":"output","Package":"shop","Test":"TestPets","Output":"    main_test.go:9: status 503\\n"}
{"Action":"fail","Package":"shop","Test":"TestPets","Elapsed":0.1}
{"Action":"pass","Package":"shop","Test":"TestOrders"}
{"Action":"fail","Package":"shop"}
not JSON`;

const VITEST = ` RUN  v5.1.2 /app

 ❯ a.test.js (4 tests | 1 failed) 1858ms
   ✓ one 407ms
   × two 55ms
 ✓ b.test.js (1 test) 33ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  a.test.js > two
AssertionError: expected 503 to be 200

⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed | 1 passed (2)
`;

const PYTEST = `============ test session starts ============
test_a.py .F                                    [ 66%]
test_b.py .                                     [100%]
=========== short test summary info ===========
FAILED test_a.py::test_two - urllib.error.HTTPError: HTTP Error 503
======= 1 failed, 2 passed in 0.04s =======
`;

const JEST = `FAIL test/a.test.js
  ✓ top (1 ms)
  pets
    ✕ lists (1.2 s)
    deep
      ○ skipped later

  ● pets › lists

    GET /pets: 503

      > 3 |   test('lists', () => {

PASS web test/b.test.js (5.1 s)

Test Suites: 1 failed, 1 passed, 2 total
`;

const MOCHA = `
  ✔ top
  pets
    1) lists
    deep
      - later
      ✔ reads (60ms)

  2 passing (54ms)
  1 pending
  1 failing

  1) pets
       lists:
     Error: GET /pets: 503
      at Context.<anonymous> (a.spec.js:4:43)

`;

const PLAYWRIGHT = `
Running 3 tests using 1 worker

  ✘  1 [web] › a.spec.js:4:3 › pets › lists (5ms)
  ✘  2 [web] › a.spec.js:4:3 › pets › lists (retry #1) (5ms)
  -  3 [web] › a.spec.js:6:38 › pets › later
  ✓  4 [web] › a.spec.js:8:1 › top (1.2s)

  1) [web] › a.spec.js:4:3 › pets › lists ─────────────

    Error: GET /pets: 503

  1 failed
    [web] › a.spec.js:4:3 › pets › lists ──────────────
  1 skipped
`;

const MARKS = { passed: '✓', failed: '✗', skipped: '-' } as const;

/** Each row: what the output is, the output, its tests, and the messages of those that failed. */
it.each<[string, string, string[], RegExp[]?]>([
  [
    'TAP of Node',
    NODE_TAP,
    ['✓ one', '- skipped', '✗ group > inner'],
    [/^error: \|-\nExpected.*503 !== 200\ncode: 'ERR_ASSERTION'$/s],
  ],
  [
    'spec of Node',
    SPEC,
    ['✓ one', '- later', '✓ group > inner', '✗ group > bad: a (b)'],
    [/^TypeError: fetch failed(?![^]*503)/],
  ],
  ['TAP of vitest', VITEST_TAP, ['✓ a.test.js > one', '✗ a.test.js > g > inner'], [/fetch failed/]],
  ['TAP without a version', '1..2\nok 1\nnot ok 2 - b\n', ['✗ b']],
  ['JUnit', JUNIT, ['✓ api > lists > pets', '✗ api > a > b', '- s > later'], [/^expected 41\nAssertionError: got 42$/]],
  ['go test -json', GO, ['✗ shop > TestPets', '✓ shop > TestOrders'], [/status 503/]],
  ['vitest', VITEST, ['✗ a.test.js', '✓ b.test.js'], [/a\.test\.js > two\nAssertionError: expected 503/]],
  [
    'vitest, by test, in colours',
    ' \u001b[32m✓\u001b[39m a.test.js > one 4ms\n × a.test.js > g > two 2.5s\n',
    ['✓ a.test.js > one', '✗ a.test.js > g > two'],
  ],
  [
    'Jest, by test and by file',
    JEST,
    [
      '✓ test/a.test.js > top',
      '✗ test/a.test.js > pets > lists',
      '- test/a.test.js > pets > deep > later',
      '✓ web test/b.test.js',
    ],
    [/^GET \/pets: 503\n/],
  ],
  [
    'Jest, by file',
    'FAIL a.test.js\n  ● pets › lists\n\n    GET /pets: 503\n\nPASS b.test.js\nTest Suites: 2 total\n',
    ['✗ a.test.js', '✓ b.test.js'],
    [/^pets › lists\n\n +GET \/pets: 503/],
  ],
  [
    'Mocha',
    MOCHA,
    ['✓ top', '✗ pets > lists', '- pets > deep > later', '✓ pets > deep > reads'],
    [/^Error: GET \/pets: 503/],
  ],
  [
    'TAP of Mocha',
    '1..2\nok 1 top\nnot ok 2 pets lists\n  GET /pets: 503\n# fail 1\n',
    ['✓ top', '✗ pets lists'],
    [/^GET \/pets: 503$/],
  ],
  [
    'Playwright',
    PLAYWRIGHT,
    ['✗ [web] > a.spec.js > pets > lists', '- [web] > a.spec.js > pets > later', '✓ [web] > a.spec.js > top'],
    [/^Error: GET \/pets: 503$/],
  ],
  ['pytest', PYTEST, ['✗ test_a.py', '✓ test_b.py'], [/HTTP Error 503/]],
  [
    'pytest -v',
    'test_a.py::test_one PASSED [ 50%]\ntest_a.py::test_two[a b] FAILED [100%]\n',
    ['✓ test_a.py::test_one', '✗ test_a.py::test_two[a b]'],
  ],
  ['nothing', 'Hello\nok computer\nnot ok\n', []],
])('results are read from %s', (_what, output, expected, messages = []) => {
  const read = readResults(output);
  expect(read.map(({ name, outcome }) => `${MARKS[outcome]} ${name}`)).toEqual(expected);
  const failed = read.filter(({ outcome }) => outcome === 'failed');
  for (const [index, message] of messages.entries()) expect(failed[index]?.message).toMatch(message);
});

const testcase = (words: string) => `<testcase ${words}/>`;
const goEvent = (name: string, test = 'TestPets', action = 'pass') =>
  `{"Action":"${action}","Package":"${name}","Test":"${test}"}`;

describe('two tests of one name are two', () => {
  it.each<[string, string, string[]]>([
    ['TAP, in two files', 'TAP version 13\nok 1 - lists\nok 2 - lists\n1..2\n', ['lists', 'lists (2)']],
    [
      'TAP, in two subtests',
      ['a', 'b'].map((name, n) => `# Subtest: ${name}\n    ok 1 - lists\n    1..1\nok ${n} - ${name}\n`).join('') +
        '1..2\n',
      ['a > lists', 'b > lists'],
    ],
    [
      'TAP, a subtest and a test',
      '# Subtest: pets\n    # Subtest: lists\n    ok 1 - lists\n    1..1\nok 1 - pets\n# Subtest: pets\nok 2 - pets\n1..2\n',
      ['pets > lists', 'pets'],
    ],
    [
      'TAP of vitest, a suite and a test',
      '1..1\nok 1 - a.test.js {\n    ok 1 - pets {\n        ok 1 - lists\n    }\n    ok 2 - pets\n}\n',
      ['a.test.js > pets > lists', 'a.test.js > pets'],
    ],
    [
      'JUnit of Node, in two files',
      ['a', 'b'].map((file) => testcase(`name="lists" classname="test" file="/app/test/${file}.test.js"`)).join('\n'),
      ['test/a.test.js > lists', 'test/b.test.js > lists'],
    ],
    [
      'JUnit of Node, in two suites',
      ['a', 'b']
        .map((name) => `<testsuite name="${name}">${testcase('name="lists" classname="test"')}</testsuite>`)
        .join('\n'),
      ['a > lists', 'b > lists'],
    ],
    [
      'JUnit, in two classes',
      `<testsuite name="pytest">${['a', 'b'].map((name) => testcase(`classname="test_${name}" name="lists"`)).join('')}</testsuite>`,
      ['test_a > lists', 'test_b > lists'],
    ],
    ['JUnit, in one class', testcase('classname="a" name="lists"').repeat(2), ['a > lists', 'a > lists (2)']],
    ['go, in two packages', `${goEvent('a')}\n${goEvent('b')}\n`, ['a > TestPets', 'b > TestPets']],
    ['go, one that ran again', `${goEvent('a')}\n${goEvent('a')}\n`, ['a > TestPets']],
    ['spec of Node', '✔ lists (1.0ms)\n✔ lists (1.0ms)\n', ['lists', 'lists (2)']],
    [
      'vitest, in two files and projects',
      ' ✓ |web| a.test.js > lists 1ms\n ✓ |node| a.test.js > lists 1ms\n ✓ b.test.js > lists 1ms\n ✓ b.test.js > lists 1ms\n',
      ['|web| a.test.js > lists', '|node| a.test.js > lists', 'b.test.js > lists', 'b.test.js > lists (2)'],
    ],
    [
      'vitest, by file',
      ' ✓ |web| a.test.js (2 tests) 1ms\n ✓ |node| a.test.js (2 tests) 1ms\n',
      ['|web| a.test.js', '|node| a.test.js'],
    ],
    [
      'pytest, one that its summary tells again',
      'test_a.py::lists FAILED [ 50%]\ntest_b.py::lists FAILED [100%]\nFAILED test_a.py::lists - 503\n',
      ['test_a.py::lists', 'test_b.py::lists'],
    ],
  ])('%s', (_name, output, names) => {
    expect(readResults(output, '/app').map(({ name }) => name)).toEqual(names);
  });

  it('but one that failed once, and passed when it ran again, has failed', () => {
    const output = `${goEvent('a', 'TestPets', 'fail')}\n${goEvent('a')}\n`;
    expect(readResults(output)).toEqual([{ name: 'a > TestPets', outcome: 'failed' }]);
  });

  it('and each has the message of its own failure', () => {
    const output =
      '✖ lists (1.0ms)\n✔ reads (1.0ms)\n✖ lists (1.0ms)\n\n✖ failing tests:\n\n✖ lists (1.0ms)\n  503\n\n✖ lists (1.0ms)\n  ECONNRESET\n';
    expect(readResults(output)).toEqual([
      { name: 'lists', outcome: 'failed', message: '503' },
      { name: 'reads', outcome: 'passed' },
      { name: 'lists (2)', outcome: 'failed', message: 'ECONNRESET' },
    ]);
  });
});

it('of an output that is too long, the end is read', () => {
  expect(readResults(`${'x'.repeat(OUTPUT_MAX)}\n✔ last (1.0ms)\n`)).toEqual([{ name: 'last', outcome: 'passed' }]);
});

it.each([
  ['a flood', 'not ok 1 - x\n'.repeat(600_000)],
  ['a million names', `1..2\n${Array.from({ length: 200_000 }, (_, n) => `ok ${n} - ${n}`).join('\n')}`],
  ['one long line', 'TAP version 13\nok 1 - '.padEnd(2 * OUTPUT_MAX, 'x')],
  ['open tags', '<testcase name="'.repeat(200_000)],
  ['open suites', '<testsuite></testsuite name="'.repeat(100_000)],
  ['failures of one name', `${'✖ a\n'.repeat(200_000)}✖ failing tests:\n${'✖ a\nx\n'.repeat(200_000)}`],
  ['an endless block', `TAP version 13\nnot ok 1 - x\n  ---\n${'  a: 1\n'.repeat(100_000)}`],
  ['deep subtests', `1..1\n${Array.from({ length: 5_000 }, (_, n) => `${' '.repeat(n)}# Subtest: x`).join('\n')}`],
  ['JSON that is no event', `{"Action":{}}\n{"\n{"Action":"__proto__","Test":"x"}\n`],
  ['controls', '\u001b[31\u0000ok 1 - \u0007\n'],
])('hostile output is bounded, and throws nothing: %s', (_name, output) => {
  const read = readResults(output);
  expect(read.length).toBeLessThanOrEqual(10_000);
  expect(read.every(({ name, message = '' }) => name.length <= 500 && message.length <= 4_000)).toBe(true);
});
