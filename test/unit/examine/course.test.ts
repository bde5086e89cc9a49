import { expect, it } from 'vitest';
import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import type { Ask } from '../../../main/contract/index.ts';
import { examine, type Stage, type Task } from '../../../main/examine/examine.ts';
import { formatJunit } from '../../../main/examine/report.ts';
import type { Row } from '../../../main/contract/examine-tables.ts';
import type { TestRun } from '../../../main/examine/verdict.ts';

interface Played extends Partial<TestRun> {
  /** How often the fault struck, and which requests the target answered. */
  struck?: number;
  posts?: number;
  idempotencyKey?: string;
}

const ROW: Row = { row: 'lost', break: 'api.error-after-commit', wants: 'any' };

/** An engine whose tests run as told, one after the other: twice without faults, then a row. */
function stageOf(runs: readonly Played[], parameters: Record<string, unknown> = {}) {
  const log: string[] = [];
  let run: Played = {};
  let next = 0;
  const answers: Record<string, () => unknown> = {
    'breaks.start': () => ({ id: 'brk_1', entry: ROW.break, parameters }),
    'breaks.stop': () => ({ struck: run.struck ?? 1 }),
    'world.export': () => ({ text: '{}' }),
    'projects.list': () => [],
    'traffic.list': () => ({ items: Array.from({ length: run.posts ?? 1 }, () => POST) }),
    'traffic.get': () => ({
      requestHeaders: run.idempotencyKey === undefined ? [] : [{ name: 'Idempotency-Key', value: run.idempotencyKey }],
      requestBody: { text: '{}' },
    }),
  };
  const stage: Stage = {
    call: ((procedure) => {
      log.push(procedure);
      return Promise.resolve(answers[procedure]?.());
    }) as Ask,
    run(limitMs) {
      log.push(`run ${limitMs}`);
      run = runs[next++] ?? {};
      return Promise.resolve({ results: [], passed: true, hung: false, ms: 100, tail: '', ...run });
    },
    interruption: new AbortController().signal,
  };
  return { log, stage };
}

const POST = {
  ...{ id: 'trf_1', method: 'POST', authority: 'shop.test', target: '/v1/pets', status: 201, stage: 'target' },
  ...{ requestBytes: 2, responseBytes: 2, httpVersion: '1.1' },
} as TrafficEntry;

const taskOf = (row: Partial<Row> = {}): Task => ({
  ...{ table: 'own', rows: [{ ...ROW, ...row }], only: [], seed: 1, subject: 'npm test', repeat: (name) => name },
});

async function verdictOf(played: Played, { row, calm = {} }: { row?: Partial<Row>; calm?: Played } = {}) {
  const { stage } = stageOf([calm, calm, played]);
  const [found] = (await examine(taskOf(row), [stage])).rows;
  return [found?.verdict, found?.unexpected === true];
}

it.each<[string, Played, string, boolean, Partial<Row>?]>([
  ['as without the fault', {}, 'survived', false],
  ['with a fault that struck nothing', { struck: 0 }, 'not_met', false],
  ['that was ended', { hung: true, passed: false }, 'hung', true],
  ['that was ended, as it is expected', { hung: true, passed: false }, 'hung', false, { expect: 'hung' }],
  ['that holds where it should fail', {}, 'survived', true, { expect: ['failed_as_it_should'] }],
  ['that fails without a message', { passed: false }, 'failed_as_it_should', false],
  ['whose failure names no fault', { passed: false, tail: 'expected 3, got 0' }, 'wrong', true],
  ['with a write that was carried out twice', { posts: 2 }, 'wrong', true],
  ['with one that has an Idempotency-Key', { posts: 2, idempotencyKey: '"a"' }, 'survived', false],
])('a run %s', async (_what, played, verdict, isUnexpected, row = {}) => {
  expect(await verdictOf(played, { row })).toEqual([verdict, isUnexpected]);
});

const examineWith = (...left: TestRun['results']) => {
  const run = { results: [{ name: 'lists', outcome: 'passed' as const }, ...left], passed: left.length === 0 };
  return examine(taskOf(), [stageOf([run, run, run]).stage]);
};
const UNCERTAIN = 'Nothing shows whose request was struck: it may be that of a test left out.';

it('a row that is survived says that it may have struck a test left out, if there are any', async () => {
  const found = async (...left: TestRun['results']) =>
    (await examineWith(...left)).rows.map(({ verdict, message }) => [verdict, message]);
  expect(await found()).toEqual([['survived', undefined]]);
  expect(await found({ name: 'fails', outcome: 'failed', message: '' })).toEqual([['survived', UNCERTAIN]]);
});

it('JUnit’s XML has the tests left out as skipped, and what restricts the success of a row', async () => {
  const about = { subject: 'npm test', repeat: 'vivarium examine -- npm test' };
  expect(formatJunit(await examineWith(), about)).not.toMatch(/skipped message|system-out/);
  const xml = formatJunit(await examineWith({ name: 'fails', outcome: 'failed', message: '' }), about);
  const reason = 'Left out: fails (fails without faults)';
  expect(xml).toContain(`name="${reason}"><skipped message="${reason}"/></testcase>`);
  expect(xml).toContain(`name="lost: survived"><system-out>${UNCERTAIN}</system-out></testcase>`);
});

it('each run begins in the world of before, and with empty traffic', async () => {
  const { log, stage } = stageOf([]);
  await examine(taskOf(), [stage]);
  const steps = log.filter((step) => /^(?:snapshots|traffic\.clear|breaks\.st|run)/.test(step));
  const restored = ['snapshots.restore', 'traffic.clear'];
  expect(steps).toEqual([
    ...['breaks.start', 'breaks.stop', 'snapshots.save'],
    ...[...restored, 'run 600000', ...restored, 'run 600000'],
    ...[...restored, 'breaks.start', 'run 10000', 'breaks.stop'],
  ]);
});

it.each<[string, number, Partial<Row>, Record<string, unknown>, number]>([
  ['three times as long as without faults', 5_000, {}, {}, 15_000],
  ['10 s at least', 100, {}, {}, 10_000],
  ['and each wait that the fault asks for', 100, { first: 3 }, { seconds: 2 }, 16_000],
  ['but no more than a minute of them', 100, { first: 100 }, { seconds: 60 }, 70_000],
  ['and a delay', 100, {}, { delayMs: 2_000, jitterMs: 500 }, 12_500],
])('a run may take %s', async (_what, ms, row, parameters, limitMs) => {
  const { log, stage } = stageOf([{ ms }, { ms }], parameters);
  await examine(taskOf(row), [stage]);
  expect(log.filter((step) => step.startsWith('run')).at(-1)).toBe(`run ${limitMs}`);
});

it('nothing is examined if no test passes twice, or the tests take more than ten minutes', async () => {
  const noTest = examine(taskOf(), [stageOf([{}, { passed: false, tail: 'no server' }]).stage]);
  await expect(noTest).rejects.toThrow('No test passes twice without faults.');
  const long = examine(taskOf(), [stageOf([{ hung: true }]).stage]);
  await expect(long).rejects.toThrow('npm test took more than ten minutes without faults.');
});
