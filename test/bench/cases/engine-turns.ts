import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { createClock } from '../../../main/base/clock.ts';
import { nextTurn } from '../../../main/base/turns.ts';
import { silentLog } from '../../../main/base/log.ts';
import type { Services } from '../../../main/contract/index.ts';
import { createPetSeeds } from '../../../main/services/pet-seeds.ts';
import type { Dataset } from '../../../main/model/pet.ts';
import { createPetServices } from '../../../main/services/pets.ts';
import { openStore } from '../../../main/store/store.ts';
import { type Figure, ROOT, temporaryFolder } from '../harness.ts';
import { nameTurns, startSampling, type Turn } from '../turn-names.ts';

/** The longest that long work may block everything else in the engine. */
const WANTED_MS = 16;

const PETS = 1_000_000;
const PART_PETS = 5_000;
const FILE_BYTES = 60_000_000;
const PIECE_CHARACTERS = 262_144;

const DATASET = { projectId: 'prj_bench', environment: 'production' } as const;
const CALL = { signal: undefined };
const LIST = { ...DATASET, descending: false, limit: 100, before: 0 } as const;

/**
 * The longest turn of the event loop, in processor time, while pets are added, imported, sorted and searched by the
 * million: the longest that a request waits on an otherwise idle machine.
 */
export async function engineTurns(): Promise<Figure[]> {
  const clock = createClock();
  const store = openStore({ file: join(temporaryFolder(), 'vivarium.db'), clock, log: silentLog });
  store.projects.insert({
    id: DATASET.projectId,
    name: 'Bench',
    slug: 'bench',
    plan: 'free',
    limits: null,
    target: { kind: 'api' },
    primary: null,
    redirects: [],
    persona: 'animal-store',
    createdAtMs: 0,
  });
  const seeds = createPetSeeds(readFileSync(join(ROOT, 'resources', 'demo', 'seed.json'), 'utf8'));
  const pets = createPetServices({
    clock,
    projects: store.projects,
    pets: store.pets,
    seeds: () => seeds,
    onRestored: () => undefined,
  });

  const texts = { json: jsonOf(FILE_BYTES), csv: csvOf(FILE_BYTES) };
  const figures = [
    await figureOf('1,000,000 pets are added', () => seed(pets)),
    await figureOf('they are sorted by name', () => pets.list({ ...LIST, sort: 'name', offset: PETS / 2 }, CALL)),
    await figureOf('they are searched', () => pets.list({ ...LIST, sort: 'id', search: 'nobody' }, CALL)),
    await figureOf('they are all removed', () => pets.clear(DATASET, CALL)),
    await figureOf('60 MB of JSON are imported', () => importAll(pets, DATASET, 'json', texts.json)),
    await figureOf('60 MB of CSV are imported', () => importAll(pets, DATASET, 'csv', texts.csv)),
  ];
  store.close();
  clock.stop();
  return figures;
}

export async function figureOf(what: string, work: () => unknown): Promise<Figure> {
  const turns: Turn[] = [];
  const collected: PerformanceEntry[] = [];
  const noteCollections = (entries: readonly PerformanceEntry[]) => void collected.push(...entries);
  const collections = new PerformanceObserver((list) => noteCollections(list.getEntries()));
  collections.observe({ entryTypes: ['gc'] });
  const samples = process.env.BENCH_NAMES === undefined ? null : startSampling();
  let working = true;
  let before = process.threadCpuUsage();
  let beganMs = performance.now();
  const count = () => {
    const now = process.threadCpuUsage();
    const endedMs = performance.now();
    turns.push({ ms: (now.user + now.system - before.user - before.system) / 1_000, beganMs, endedMs });
    before = now;
    beganMs = endedMs;
    if (working) setImmediate(count);
  };
  setImmediate(count);
  const begunMs = performance.now();
  await work();
  working = false;
  // The turn in which the work ended, which may be its only one.
  await nextTurn();
  const seconds = (performance.now() - begunMs) / 1_000;
  noteCollections(collections.takeRecords());
  collections.disconnect();
  turns.sort((a, b) => a.ms - b.ms);
  const longest = turns.at(-1)?.ms ?? Number.NaN;
  // V8 collects garbage within turns at moments of its choosing; on a busy machine its helper threads get no processor.
  const own = turns.findLast(
    (turn) => !collected.some((one) => one.startTime < turn.endedMs && one.startTime + one.duration > turn.beganMs),
  );
  if (samples !== null) console.error(`${what}\n${nameTurns(samples(), turns, collected)}`);
  return {
    what: `longest turn of the engine while ${what}`,
    measured: `${longest.toFixed(0)} ms`,
    wanted: `≤ ${WANTED_MS} ms`,
    met: longest <= WANTED_MS,
    detail: `processor time; ${(own?.ms ?? 0).toFixed(0)} ms without a collection of V8's, median ${(turns[turns.length >> 1]?.ms ?? 0).toFixed(1)} ms of ${turns.length} turns, ${seconds.toFixed(1)} s in all`,
  };
}

async function seed(pets: Services['pets']): Promise<void> {
  for (let skip = 0; skip < PETS; skip += PART_PETS) await pets.seed({ ...DATASET, count: PART_PETS, skip }, CALL);
}

export async function importAll(
  pets: Services['pets'],
  dataset: Dataset,
  format: 'json' | 'csv',
  text: string,
): Promise<void> {
  let importId: string | undefined;
  for (let start = 0; start < text.length; start += PIECE_CHARACTERS) {
    const end = start + PIECE_CHARACTERS;
    const piece = { ...dataset, format, text: text.slice(start, end), more: end < text.length };
    ({ importId } = await pets.import({ ...piece, ...(importId !== undefined && { importId }) }, CALL));
  }
}

const NAME = 'Biscuit the Border Collie';

/** A file of that many bytes; another case imports it in the interface. */
export function jsonOf(bytes: number): string {
  const row = (number: number) => `{"name": "${NAME} ${number}", "categoryId": ${number % 7}, "status": "available"}`;
  // A concatenated string would be flattened when its first piece is read, in the turn that is measured.
  return Buffer.from(`[${rowsOf(bytes, row).join(',\n')}]`).toString();
}

export const csvOf = (bytes: number): string =>
  ['name,categoryId,status', ...rowsOf(bytes, (number) => `${NAME} ${number},${number % 7},available`), ''].join('\n');

function rowsOf(bytes: number, row: (number: number) => string): string[] {
  const rows: string[] = [];
  for (let length = 0; length < bytes; length += (rows.at(-1) ?? '').length + 2) rows.push(row(rows.length));
  return rows;
}
