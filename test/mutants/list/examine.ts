import { mutantsOf } from '../mutant.ts';

export const EXAMINE = [
  ...mutantsOf('main/examine/verdict.ts', ['unit/examine/verdict'], {
    'a world differs because an order names its pet by another id': "'id', '[-petId', '-]at',",
    'what only the second run without faults left counts as different': '[-first.size === second.size && -][...first]',
    'a failed test is wrong because it left, or wrote, one value of its own':
      'count > [-Math.max(1, before)-]{+before+}',
  }),
  ...mutantsOf('main/examine/placing.ts', ['unit/examine/placing'], {
    '500 after the commit is placed on a request that was refused':
      'REPEATABLE_HARM.has(method)[- && (status ?? 500) < 400-]',
    'a row is placed on a request that only one of both runs made': '[-also.has(key) ? [made] : []-]{+[made]+}',
    'a fault of HTTP/1.1 is caused over HTTP/2': 'row.http [-!-]{+=+}== entry.httpVersion',
    'a row strikes the request after its own': '(row.after ?? 0) : ordinal[- - 1-]',
    'all rows are placed on one request': '[-(seed + index)-]{+seed+} % fitting.length',
  }),
  ...mutantsOf('main/examine/results.ts', ['unit/examine/results'], {
    'two tests of one name are one': '[-number === 1 ? given : `${given} (${number})`-]{+given+}',
    'a skipped test counts as passed': "[-isLeftOut ? 'skipped' : -]not",
    'a test that failed once and then passed has passed':
      "[-before.outcome === 'skipped' || result.outcome === 'failed'-]{+true+}",
  }),
  ...mutantsOf('main/examine/verdict.ts', ['unit/examine/verdict'], {
    'a test that failed early is wrong because it left less': '[-failures.length > 0 || -]run.hung ? repetitionIn',
    'a failure without a message is wrong': "isNamed[- || said === ''-]",
    'a run that was ended is wrong because its world is not complete': 'failures.length > 0 [-|| run.hung -]?',
  }),
  ...mutantsOf('main/examine/examine.ts', ['integration/embed/examine', 'unit/examine/course'], {
    'a row that struck nothing is survived':
      "[-if (struck === 0) return notMet('The run made no request that the fault could strike.');-]",
    'slow tests hang in each row': '[-Math.max(HUNG_MS_MIN, HUNG_TIMES * ms)-]{+HUNG_MS_MIN+}',
    'a client that waits as told several times hangs': 'delay)[- * Math.min(first, 100)-]',
    'a request with an Idempotency-Key must not be repeated':
      "[-if (requestHeaders.some(({ name }) => name.toLowerCase() === 'idempotency-key')) continue;-]",
    'the exit code is 0 though a row is hung': "verdict === 'wrong'[- || verdict === 'hung'-]",
    'a row begins in the world that the one before has left':
      "[-await stage.call('snapshots.restore', { name: SNAPSHOT });-]",
  }),
];
