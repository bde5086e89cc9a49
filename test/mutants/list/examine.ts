import { mutantsOf } from '../mutant.ts';

const EMBEDDED = 'test/integration/embed/examine.test.ts';

export const EXAMINE = [
  ...mutantsOf('main/examine/verdict.ts', ['test/unit/examine/verdict.test.ts'], {
    'examine.ids-differ': {
      find: "'id', 'petId', 'at',",
      replace: "'id', 'at',",
      breaks: 'a world differs because an order names its pet by another id',
    },
    'examine.missing-values-are-alike': {
      find: 'first.size === second.size && [...first]',
      replace: '[...first]',
      breaks: 'what only the second run without faults left counts as different',
    },
    'examine.any-new-value-is-a-repetition': {
      find: 'count > Math.max(1, before)',
      replace: 'count > before',
      breaks: 'a failed test is wrong because it left one value of its own',
    },
  }),
  ...mutantsOf('main/examine/tables.ts', ['test/unit/examine/tables.test.ts'], {
    'examine.refused-write': {
      find: 'REPEATABLE_HARM.has(method) && (status ?? 500) < 400',
      replace: 'REPEATABLE_HARM.has(method)',
      breaks: '500 after the commit is placed on a request that was refused',
    },
    'examine.placed-on-one-run': {
      find: 'also.has(key) ? [made] : []',
      replace: '[made]',
      breaks: 'a row is placed on a request that only one of both runs made',
    },
    'examine.twins-swapped': {
      find: 'row.http !== entry.httpVersion',
      replace: 'row.http === entry.httpVersion',
      breaks: 'a fault of HTTP/1.1 is caused over HTTP/2',
    },
    'examine.one-request-late': {
      find: '(row.after ?? 0) : ordinal - 1',
      replace: '(row.after ?? 0) : ordinal',
      breaks: 'a row strikes the request after its own',
    },
    'examine.all-rows-on-one-request': {
      find: '(seed + index) % fitting.length',
      replace: 'seed % fitting.length',
      breaks: 'all rows are placed on one request',
    },
  }),
  ...mutantsOf('main/examine/results.ts', ['test/unit/examine/results.test.ts'], {
    'examine.one-name-one-test': {
      find: 'number === 1 ? given : `${given} (${number})`',
      replace: 'given',
      breaks: 'two tests of one name are one',
    },
    'examine.skipped-passes': {
      find: "isLeftOut ? 'skipped' : not",
      replace: 'not',
      breaks: 'a skipped test counts as passed',
    },
    'examine.last-result-counts': {
      find: "before.outcome === 'skipped' || result.outcome === 'failed'",
      replace: 'true',
      breaks: 'a test that failed once and then passed has passed',
    },
  }),
  ...mutantsOf('main/examine/verdict.ts', ['test/unit/examine/verdict.test.ts'], {
    'examine.failed-tests-must-clean-up': {
      find: 'failures.length > 0 || run.hung ? repetitionIn',
      replace: 'run.hung ? repetitionIn',
      breaks: 'a test that failed early is wrong because it left less',
    },
    'examine.one-write-is-wrong': {
      find: 'count > Math.max(1, usual)',
      replace: 'count > usual',
      breaks: 'a write that only the run under a fault made is wrong',
    },
    'examine.silence-is-wrong': {
      find: "isNamed || said === ''",
      replace: 'isNamed',
      breaks: 'a failure without a message is wrong',
    },
    'examine.hung-tests-are-compared-whole': {
      find: 'failures.length > 0 || run.hung ?',
      replace: 'failures.length > 0 ?',
      breaks: 'a run that was ended is wrong because its world is not complete',
    },
  }),
  ...mutantsOf('main/examine/examine.ts', [EMBEDDED, 'test/unit/examine/course.test.ts'], {
    'examine.not-struck-survives': {
      find: "if (struck === 0) return notMet('The run made no request that the fault could strike.');",
      replace: '',
      breaks: 'a row that struck nothing is survived',
    },
    'examine.slow-tests-hang': {
      find: 'Math.max(HUNG_MS_MIN, HUNG_TIMES * ms)',
      replace: 'HUNG_MS_MIN',
      breaks: 'slow tests hang in each row',
    },
    'examine.prescribed-wait-once': {
      find: 'delay) * Math.min(first, 100)',
      replace: 'delay)',
      breaks: 'a client that waits as told several times hangs',
    },
    'examine.idempotency-key-ignored': {
      find: "if (requestHeaders.some(({ name }) => name.toLowerCase() === 'idempotency-key')) continue;",
      replace: '',
      breaks: 'a request with an Idempotency-Key must not be repeated',
    },
    'examine.hung-is-no-failure': {
      find: "verdict === 'wrong' || verdict === 'hung'",
      replace: "verdict === 'wrong'",
      breaks: 'the exit code is 0 though a row is hung',
    },
    'examine.world-not-restored': {
      find: "await stage.call('snapshots.restore', { name: SNAPSHOT });",
      replace: '',
      breaks: 'a row begins in the world that the one before has left',
    },
  }),
];
