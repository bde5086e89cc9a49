import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { end, type Figure, median, ROOT, ROUNDS, startVivarium, temporaryFolder } from '../harness.ts';

const PROGRAM = join(ROOT, 'out', 'main', 'vivarium.js');

/** Alternating runs of each side in a round. */
const RUNS = 5;

/** How long an installed command takes from its start to its end, warm, beside a Node process that does nothing. */
export async function commandStart(): Promise<Figure[]> {
  const dataDir = temporaryFolder();
  const vivarium = await startVivarium(dataDir);
  const calls: number[] = [];
  const nothings: number[] = [];
  const call = [PROGRAM, 'call', 'status.get', '--data-dir', dataDir];
  runOnce(call);
  for (let round = 0; round < ROUNDS * RUNS; round++) {
    calls.push(runOnce(call));
    nothings.push(runOnce(['-e', '0']));
  }
  await end(vivarium.child);
  const ratio = median(calls) / median(nothings);
  return [
    {
      what: 'a call by the installed command, as a whole process',
      measured: `${ratio.toFixed(1)} ×`,
      wanted: '≤ 5 × an empty Node process',
      met: ratio <= 5,
      detail: `${Math.round(median(calls))} ms beside ${Math.round(median(nothings))} ms`,
    },
  ];
}

function runOnce(args: readonly string[]): number {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  return performance.now() - begun;
}
