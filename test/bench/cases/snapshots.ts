import {
  cpuSeconds,
  createOpenProject,
  end,
  type Figure,
  median,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

/** The longest that saving and restoring a world may take. */
const WANTED_MS = 20;

const PETS = 10_000;
const PART_PETS = 5_000;
const ROUNDS = 40;

/** Per call, in milliseconds: the engine's processor time, and elapsed time over HTTP. */
interface Times {
  ownMs: number;
  elapsedMs: number[];
}

/**
 * A world of 10,000 pets, saved and restored over the control port while it is served; compared with adding its pets
 * again, which is what a demo's own script would do.
 */
export async function snapshots(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { projectId } = await createOpenProject(vivarium, 'Bench');
  const seeded = await measure(vivarium, 1, async () => {
    for (let skip = 0; skip < PETS; skip += PART_PETS) {
      await vivarium.call('pets.seed', { projectId, count: PART_PETS, skip });
    }
  });
  const save = () => vivarium.call('snapshots.save', { name: 'bench', force: true });
  const restore = () => vivarium.call('snapshots.restore', { name: 'bench' });
  await save();
  const saves = await measure(vivarium, ROUNDS, save);
  await vivarium.call('pets.clear', { projectId });
  const restores = await measure(vivarium, ROUNDS, restore);
  const { total } = await vivarium.call<{ total: number }>('pets.list', { projectId, limit: 1 });
  const figure = (what: string, { ownMs, elapsedMs }: Times): Figure => ({
    what: `${what} a world of 10,000 pets`,
    measured: `${ownMs.toFixed(1)} ms`,
    wanted: `≤ ${WANTED_MS} ms`,
    met: ownMs <= WANTED_MS && total === PETS,
    detail: `processor time; ${(seeded.ownMs / ownMs).toFixed(0)} × as quick as adding its pets; ${Math.min(...elapsedMs).toFixed(1)} ms or more over HTTP, median ${median(elapsedMs).toFixed(1)} ms`,
  });
  const figures = [
    figure('saving', saves),
    figure('restoring', restores),
    await longestAnswer(vivarium, [save, restore]),
  ];
  await end(vivarium.child);
  return figures;
}

async function measure({ child }: Vivarium, rounds: number, work: () => Promise<unknown>): Promise<Times> {
  const elapsedMs: number[] = [];
  const before = cpuSeconds(child);
  for (let round = 0; round < rounds; round++) elapsedMs.push(await timed(work));
  return { ownMs: ((cpuSeconds(child) - before) * 1_000) / rounds, elapsedMs };
}

/** The longest that another call waits while snapshots are saved and restored without a pause. */
async function longestAnswer(vivarium: Vivarium, works: readonly (() => Promise<unknown>)[]): Promise<Figure> {
  const waits: number[] = [];
  let working = true;
  const asking = (async () => {
    while (working) waits.push(await timed(() => vivarium.call('clock.get')));
  })();
  for (let round = 0; round < ROUNDS; round++) for (const work of works) await work();
  working = false;
  await asking;
  return {
    what: 'longest answer of another call meanwhile',
    measured: `${Math.max(...waits).toFixed(0)} ms`,
    wanted: 'about one restoration',
    met: null,
    detail: `elapsed time; median ${median(waits).toFixed(1)} ms of ${waits.length} calls`,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}
