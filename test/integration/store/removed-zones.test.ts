import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { STEP_RECORDS } from '../../../main/store/tables/datasets.ts';
import { until, type Store } from '../../unit/store/parts.ts';
import { openFile, temporaryFile } from './files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { valueIn } from '../../support/sqlite.ts';

const RECORDS = STEP_RECORDS * 5 + 10;

/** The zones big.test, with many records, and other.test with one. */
function zonesIn(file: string): Store {
  const store = openFile(file);
  for (const [zone, count] of Object.entries({ 'big.test': RECORDS, 'other.test': 1 })) {
    store.zones.insert({ name: zone, supportsAlias: true, createdAtMs: 1 });
    const begun = Array.from({ length: count }, (_, number) => {
      const at = { visibleAtMs: 1, visibleFromMs: null, visibleUntilMs: null };
      return {
        id: `rec_${zone}_${number}`,
        zone,
        name: `h${number}.${zone}`,
        type: 'A',
        ttlSeconds: 60,
        value: 'x',
        ...at,
      };
    });
    store.records.apply({ begun, moved: [], ended: [], visibleIn: zone });
  }
  return store;
}

/** The rows of a database, whether shown or not. */
function rowsIn(file: string): { zones: number; records: number } {
  const count = (table: string) => Number(valueIn(file, `SELECT count(*) FROM ${table}`));
  return { zones: count('zones'), records: count('records') };
}

const shownIn = ({ zones, records }: Store) => ({
  zones: zones.list().map(({ name }) => name),
  count: [zones.count(), records.count().current],
  big: [zones.get('big.test'), zones.updateSecret('big.test'), records.get('rec_big.test_7')],
});

const WITHOUT_BIG = { zones: ['other.test'], count: [1, 1], big: [null, null, null] };

it('records that have ended and are still visible count as versions', () => {
  const store = zonesIn(temporaryFile());
  const at = { visibleAtMs: 1, visibleFromMs: null, visibleUntilMs: 9 };
  const ended = {
    id: 'rec_ended',
    zone: 'other.test',
    name: 'other.test',
    type: 'A',
    ttlSeconds: 60,
    value: 'x',
    ...at,
  };
  store.records.apply({ begun: [ended], moved: [], ended: [], visibleIn: 'other.test' });
  expect(store.records.count()).toEqual({ current: RECORDS + 1, versions: RECORDS + 2 });
});

it('a removed zone disappears at once, and its rows in bounded steps with other work in between', async () => {
  const file = temporaryFile();
  const store = zonesIn(file);
  store.zones.setUpdateSecret('big.test', 'c2VjcmV0');
  expect(store.zones.remove('big.test')).toMatchObject({ name: 'big.test', records: RECORDS });
  expect([shownIn(store), store.zones.remove('big.test')]).toEqual([WITHOUT_BIG, null]);
  let purged = false;
  void store.zones.purged().then(() => (purged = true));
  const seen: number[] = [];
  await until(() => {
    seen.push(rowsIn(file).records);
    return purged;
  });
  const steps = seen.map((left, index) => (seen[index - 1] ?? RECORDS + 1) - left);
  expect([Math.max(...steps), rowsIn(file)]).toEqual([STEP_RECORDS, { zones: 1, records: 1 }]);
});

it('the removal of a zone is finished after a kill', async () => {
  const file = temporaryFile();
  const store = zonesIn(file);
  store.zones.remove('big.test');
  await until(() => rowsIn(file).records <= RECORDS - STEP_RECORDS);
  // What a kill at this moment leaves.
  const left = temporaryFolder();
  cpSync(dirname(file), left, { recursive: true });
  const copy = join(left, 'vivarium.db');
  const again = openFile(copy);
  expect([shownIn(again), rowsIn(copy).records > 1]).toEqual([WITHOUT_BIG, true]);
  await again.zones.purged();
  expect([shownIn(again), rowsIn(copy)]).toEqual([WITHOUT_BIG, { zones: 1, records: 1 }]);
});

it('a new zone with the name of one that is being removed is empty at first, and stays', async () => {
  const file = temporaryFile();
  const store = zonesIn(file);
  store.zones.remove('big.test');
  store.zones.insert({ name: 'big.test', supportsAlias: false, createdAtMs: 2 });
  expect(store.zones.get('big.test')).toMatchObject({ records: 0, createdAtMs: 2 });
  await store.zones.purged();
  expect([store.zones.count(), store.zones.updateSecret('big.test'), rowsIn(file)]).toEqual([
    2,
    null,
    { zones: 2, records: 1 },
  ]);
});
