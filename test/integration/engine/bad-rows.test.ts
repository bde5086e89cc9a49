import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { BACKUPS_KEPT } from '../../../main/store/copies/backups.ts';
import { dropBadRowsOf, openDatabase } from '../../../main/store/database.ts';
import { restarted, startEngine, type Engine } from '../../support/engine.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMutator, fillWorld, mutationsOf, readWorld, tablesOf } from '../../support/mutated-rows.ts';
import type { Mutation } from '../../support/mutated-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { thirdOfToday } from '../../support/third-of-today.ts';
import { runIn, valueIn } from '../../support/sqlite.ts';

const MINUTES = 60_000;

const textOf = ({ table, column, value }: Mutation): string => `${table}.${column} = ${value}`;

/** Whether a message names the table and the column of a mutation, or a reference to them. */
const isNamed = ({ table, column }: Mutation, message: string): boolean =>
  new RegExp(`the row .* in the table ${table}: .*\\b${column}\\b|the ${column} of a row of ${table}\\b`).test(message);

const byColumn = (mutations: readonly Mutation[]): Mutation[][] =>
  Object.values(Object.groupBy(mutations, ({ table, column }) => `${table}.${column}`)).map((each = []) => each);

/** One mutation of each column at a time: few worlds in place of one for each mutation. */
function together(mutations: readonly Mutation[]): Mutation[][] {
  const columns = byColumn(mutations);
  const most = Math.max(0, ...columns.map((each) => each.length));
  return Array.from({ length: most }, (_, index) => columns.flatMap((each) => each.slice(index, index + 1)));
}

/** A database with rows in every table, its mutations of today, and what makes the mutated copies. */
function mutable(file: string) {
  const sqlite = new Sqlite(file, { readonly: true });
  const mutations = thirdOfToday(byColumn(mutationsOf(sqlite))).flat();
  const empty = tablesOf(sqlite).filter((name) => sqlite.prepare(`SELECT 1 FROM ${name}`).get() === undefined);
  sqlite.close();
  expect(empty).toEqual([]);
  return { mutations, mutate: createMutator(file, `${file}.loose`) };
}

/** What every restoration changes: the serial that zones continue from. */
const serialOf = ({ dataDir }: Engine) => valueIn(join(dataDir, 'vivarium.db'), 'SELECT last FROM serials');

async function refusalOf(call: Promise<unknown>): Promise<{ code?: string; message: string } | null> {
  return call.then(
    () => null,
    (error: { code?: string; message: string }) => error,
  );
}

describe('a database with one wrong value in a row', () => {
  it(
    'as a snapshot file is refused with the table, row and column, and nothing has changed; or everything answers',
    { timeout: 10 * MINUTES },
    async () => {
      const engine = await startEngine();
      await fillWorld(engine);
      await engine.call('snapshots.save', { name: 'whole' });
      const folder = temporaryFolder();
      copyFileSync(join(engine.dataDir, 'snapshots', 'snapshot-whole.db'), join(folder, 'whole.db'));
      const { mutations, mutate } = mutable(join(folder, 'whole.db'));
      const file = join(folder, 'mutated.db');
      const wrong: string[] = [];
      const accepted: Mutation[] = [];
      for (const mutation of mutations) {
        if (!mutate([mutation], file)) continue;
        const before = serialOf(engine);
        const refusal = await refusalOf(engine.call('snapshots.restoreFile', { file }));
        if (refusal === null) {
          expect(serialOf(engine)).not.toBe(before);
          accepted.push(mutation);
          continue;
        }
        if (refusal.code !== 'conflict') wrong.push(`${textOf(mutation)}: ${refusal.code} ${refusal.message}`);
        if (!isNamed(mutation, refusal.message)) wrong.push(`${textOf(mutation)} is not named: ${refusal.message}`);
        if (serialOf(engine) !== before) wrong.push(`${textOf(mutation)} is refused, and has changed the world`);
      }
      expect(wrong).toEqual([]);

      const failed: unknown[] = [];
      let running = engine;
      for (const group of together(accepted)) {
        expect(mutate(group, file)).toBe(true);
        await running.call('snapshots.restoreFile', { file });
        const before = await readWorld(running);
        running = await restarted(running);
        failed.push(...[...before, ...(await readWorld(running))].map((procedure) => [procedure, group.map(textOf)]));
      }
      expect(failed).toEqual([]);
    },
  );

  it(
    'is refused by a start with the table, row and column, until the row is left out; or everything answers',
    { timeout: 10 * MINUTES },
    async () => {
      const engine = await startEngine();
      await fillWorld(engine);
      await engine.stop();
      const file = join(engine.dataDir, 'vivarium.db');
      const original = join(temporaryFolder(), 'original.db');
      copyFileSync(file, original);
      const { mutations, mutate } = mutable(original);
      const wrong: string[] = [];
      const accepted: Mutation[] = [];
      const dropped = new Set<string>();
      for (const mutation of mutations) {
        if (!mutate([mutation], file)) continue;
        const refusal = refusalOfOpening(file);
        if (refusal === null) {
          accepted.push(mutation);
          continue;
        }
        if (!isNamed(mutation, refusal)) wrong.push(`${textOf(mutation)} is not named: ${refusal}`);
        if (!refusal.includes('doctor --drop-bad-rows')) wrong.push(`${textOf(mutation)}: ${refusal}`);
        const place = `${mutation.table}.${mutation.column}`;
        if (dropped.has(place)) continue;
        dropped.add(place);
        const done = dropBadRowsOf(file);
        if (!isNamed(mutation, done.dropped.join()))
          wrong.push(`${textOf(mutation)}: left out is ${done.dropped.join()}`);
        if (refusalOfOpening(file) !== null) wrong.push(`${textOf(mutation)}: ${refusalOfOpening(file)}`);
        if (dropped.has(mutation.table)) continue;
        dropped.add(mutation.table);
        const again = await startEngine({ dataDir: engine.dataDir });
        wrong.push(...(await readWorld(again)).map((procedure) => `${textOf(mutation)} is left out: ${procedure}`));
        await again.stop();
      }
      for (const group of together(accepted)) {
        expect(mutate(group, file)).toBe(true);
        const again = await startEngine({ dataDir: engine.dataDir });
        wrong.push(...(await readWorld(again)).map((procedure) => `${group.map(textOf).join()}: ${procedure}`));
        await again.stop();
      }
      expect(wrong).toEqual([]);
      expect(dropped.size).toBeGreaterThan(6);
      expect(readdirSync(join(engine.dataDir, 'backups'))).toHaveLength(BACKUPS_KEPT);
    },
  );
});

it('a wrong number of pets in a snapshot file is counted anew, and one beyond all bounds refused', async () => {
  const engine = await startEngine();
  await engine.call('snapshots.save', { name: 'whole' });
  const file = join(temporaryFolder(), 'whole.db');
  copyFileSync(join(engine.dataDir, 'snapshots', 'snapshot-whole.db'), file);
  const count = (pets: number) => runIn(file, `UPDATE pet_counts SET pets = ${pets}`);
  count(5_000);
  await engine.call('snapshots.restoreFile', { file });
  expect(await engine.call('pets.list', { projectId: 'demo' })).toMatchObject({ total: 30 });
  count(Number.MAX_SAFE_INTEGER);
  const refusal = await refusalOf(engine.call('snapshots.restoreFile', { file }));
  expect(refusal?.message).toMatch(/in the table pet_counts: pets /);
  expect(await readWorld(engine)).toEqual([]);
});

it('a setting of another form counts as not stored', async () => {
  const engine = await startEngine();
  await engine.call('settings.update', { propagation: 'PT0S', banAfter: 20 });
  await engine.stop();
  for (const value of ['null', '1', '"x"', '{"a":null}', '[[]]']) {
    const sqlite = new Sqlite(join(engine.dataDir, 'vivarium.db'));
    const put = sqlite.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)');
    for (const name of ['propagation', 'banAfter', 'runs', 'drills', 'lanKept', 'firstStartAt']) put.run(name, value);
    sqlite.close();
    const again = await startEngine({ dataDir: engine.dataDir });
    expect([value, await readWorld(again)]).toEqual([value, []]);
    await again.stop();
  }
});

/** Why a start cannot open the database; null if it can. */
function refusalOfOpening(file: string): string | null {
  try {
    openDatabase({ file, clock: createFakeClock(), log: silentLog }).connection.sqlite.close();
    return null;
  } catch (error) {
    return error instanceof VivariumError ? error.message : `${String(error)}, without a sentence`;
  }
}
