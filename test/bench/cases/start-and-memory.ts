import { spawnSync } from 'node:child_process';
import {
  cpuSeconds,
  createOpenProject,
  end,
  endedCpuSeconds,
  type Figure,
  median,
  residentMb,
  ROUNDS,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

/** V8 returns the memory used at the start to the system after 100 s without a garbage collection. */
const IDLE_MS = 120_000;

/** Milliseconds by the clock, and of processor time. */
interface Start {
  byClock: number;
  worked: number;
}

/**
 * The time from the start to serving, in a fresh data folder and in an existing one, against an empty Node, in turn;
 * then the memory when idle.
 */
export async function startAndMemory(): Promise<Figure[]> {
  const dataDir = temporaryFolder();
  const [fresh, existing, empty]: Start[][] = [[], [], []];
  for (let round = 0; round <= ROUNDS; round++) {
    fresh?.push(await startOf(startVivarium(round === 0 ? dataDir : temporaryFolder())));
    existing?.push(await startOf(startVivarium(dataDir)));
    empty?.push(emptyNode());
  }

  const vivarium = await startVivarium(dataDir);
  const { projectId } = await createOpenProject(vivarium, 'Memory');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const idleMb = residentMb(vivarium.child);
  await end(vivarium.child);
  return [
    startFigure('in a fresh data folder', fresh ?? [], empty ?? [], 9),
    startFigure('in an existing data folder', existing ?? [], empty ?? [], 7),
    {
      what: 'resident memory, idle for two minutes',
      measured: `${Math.round(idleMb)} MB`,
      wanted: '≤ 85 MB',
      met: Math.round(idleMb) <= 85,
      detail: '1,000 pets',
    },
  ];
}

async function startOf(starting: ReturnType<typeof startVivarium>): Promise<Start> {
  const { child, startMs } = await starting;
  const worked = cpuSeconds(child) * 1_000;
  await end(child);
  return { byClock: startMs, worked };
}

/** The whole life of a Node that has nothing to do. */
function emptyNode(): Start {
  const [beganMs, before] = [performance.now(), endedCpuSeconds()];
  spawnSync(process.execPath, ['-e', '0']);
  return { byClock: performance.now() - beganMs, worked: (endedCpuSeconds() - before) * 1_000 };
}

/** The ratio by the clock, which is what a user waits for, and by processor time, which the machine's load changes less. */
function startFigure(where: string, starts: readonly Start[], empty: readonly Start[], most: number): Figure {
  const clock = (rounds: readonly Start[]): number => median(rounds.map(({ byClock }) => byClock));
  // Its unit is coarse beside an empty Node, so that the mean counts.
  const work = (rounds: readonly Start[]): number =>
    rounds.reduce((sum, { worked }) => sum + worked, 0) / rounds.length;
  const ratio = clock(starts) / clock(empty);
  const shown = (rounds: readonly Start[]): string =>
    `${Math.round(clock(rounds))} ms, ${Math.round(work(rounds))} ms of processor time`;
  return {
    what: `start to serving ${where}, against an empty Node`,
    measured: `${ratio.toFixed(1)} × (${(work(starts) / work(empty)).toFixed(1)} × by processor time)`,
    wanted: `≤ ${most} ×`,
    met: ratio <= most,
    detail: `${shown(starts)}; an empty Node ${shown(empty)}`,
  };
}
