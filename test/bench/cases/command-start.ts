import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { end, type Figure, median, ROOT, ROUNDS, startVivarium, temporaryFolder } from '../harness.ts';

/** What `npm link` and `npm i -g` put on the PATH. */
const INSTALLED = join(ROOT, 'main', 'cli', 'bin.mjs');

const CALLS: Readonly<Record<string, readonly string[]>> = {
  'a call for scripts': ['call', 'status.get'],
  'a table': ['projects', 'list'],
  'a completion': ['complete', '--', 'projects', 'get', ''],
};

/** Alternating runs of each side per round. */
const RUNS = 3;

/** How long the installed command takes from start to end, warm, compared with a Node process that does nothing. */
export async function commandStart(): Promise<Figure[]> {
  const dataDir = temporaryFolder();
  const vivarium = await startVivarium(dataDir);
  const env = { ...process.env, VIVARIUM_DATA_DIR: dataDir };
  const times = Object.entries(CALLS).map(([what, words]) => ({ what, words, calls: [] as number[] }));
  const nothings: number[] = [];
  for (const { words } of times) runOnce([INSTALLED, ...words], env);
  for (let round = 0; round < ROUNDS * RUNS; round++) {
    nothings.push(runOnce(['-e', '0'], env));
    for (const { words, calls } of times) calls.push(runOnce([INSTALLED, ...words], env));
  }
  await end(vivarium.child);
  return times.map(({ what, calls }) => {
    const ratio = median(calls) / median(nothings);
    return {
      what: `${what} by the installed command, as a whole process`,
      measured: `${ratio.toFixed(1)} ×`,
      wanted: '≤ 5 × an empty Node process',
      met: ratio <= 5,
      detail: `${Math.round(median(calls))} ms beside ${Math.round(median(nothings))} ms`,
    };
  });
}

function runOnce(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore', env });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return performance.now() - begun;
}
