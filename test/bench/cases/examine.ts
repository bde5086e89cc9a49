import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Examination } from '../../../main/contract/examine.ts';
import { type Figure, PROGRAM, ROOT, temporaryFolder } from '../harness.ts';

/** How often the client with the fault, and the right one, are examined. */
const TIMES = 10;

/** What rows of `quick` ask the sample to wait: a slow answer, three of Retry-After, and its own time limit. */
const PRESCRIBED_S = 2 + 1 + 2 + 2 + 5;
const ROW_S = 0.3;
const RUNS = 14;

/** The four tests of `test/support/examine` under the table `quick`. */
export function examine(): Promise<Figure[]> {
  const folder = temporaryFolder();
  cpSync(join(ROOT, 'test', 'support', 'examine'), folder, { recursive: true });
  writeFileSync(join(folder, 'vivarium.yaml'), 'vivarium: 1\nprojects:\n  shop: { plan: pro, pets: 40, keys: [ci] }\n');
  const run = (env: Record<string, string>, jobs: number) => {
    const startedMs = performance.now();
    const words = [PROGRAM, 'examine', '--json', '--jobs', String(jobs), '--', process.execPath, '--test'];
    const { stdout, stderr } = spawnSync(process.execPath, words, {
      cwd: folder,
      env: { ...process.env, ...env },
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (stdout === '') throw new Error(stderr);
    return { seconds: (performance.now() - startedMs) / 1_000, ...(JSON.parse(stdout) as Examination) };
  };
  const several = (env: Record<string, string>) => Array.from({ length: TIMES }, () => run(env, 2));
  const verdicts = ({ rows }: Examination) =>
    JSON.stringify(rows.map(({ verdict, tests }) => [verdict, tests.map((test) => test.verdict)]));
  const [wrong, right] = [several({ REPEATS_POST: '1' }), several({})];
  const found = wrong.filter(({ rows }) => rows.find(({ row }) => row === '500-after-commit')?.verdict === 'wrong');
  const held = right.filter(({ rows }) => rows.every(({ verdict }) => /survived|should/.test(verdict)));
  const same = [wrong, right].map((all) => all.filter((each) => verdicts(each) === verdicts(all[0] ?? each)).length);
  const { seconds, calm, rows } = run({}, 1);
  const times = (seconds - PRESCRIBED_S - ROW_S * rows.length) / (calm.ms / 1_000);
  return Promise.resolve([
    {
      what: '`examine` by `quick`: a client that repeats a POST is *wrong*; a right one holds',
      measured: `${found.length} and ${held.length} of ${TIMES}`,
      wanted: `${TIMES} of ${TIMES}`,
      met: found.length === TIMES && held.length === TIMES,
      detail: `the same verdicts each time: ${same.join(' and ')} of ${TIMES}`,
    },
    {
      what: 'its time, without what rows prescribe and 0.3 s a row, in runs without faults',
      measured: `${times.toFixed(1)} ×`,
      wanted: `≤ ${RUNS} ×`,
      met: times <= RUNS,
      detail: `${seconds.toFixed(1)} s; a run without faults ${(calm.ms / 1_000).toFixed(2)} s`,
    },
  ]);
}
