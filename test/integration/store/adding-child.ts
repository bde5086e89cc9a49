/**
 * A process that adds pets to the database named by its argument until it is killed, and prints every acknowledged id,
 * one a line. Sixteen adds are in progress at any time, as under load; with `import`, it imports 90,000 instead, and
 * prints the number of stored ones.
 */
import { writeSync } from 'node:fs';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { openStore } from '../../../main/store/store.ts';

const UNDER_WAY = 16;

const store = openStore({ file: process.argv[2] ?? '', clock: createClock(), log: silentLog });
const [project] = store.projects.list();
const dataset = { projectId: project?.id ?? '', environment: 'production' } as const;

async function addForEver(): Promise<never> {
  for (;;) {
    const { id } = await store.pets.add(dataset, {
      name: `Pet ${'x'.repeat(200)}`,
      categoryId: 1n,
      status: 'available',
    });
    writeSync(1, `${id}\n`);
  }
}

if (process.argv[3] === 'import') {
  store.pets.onChanged(() => writeSync(1, `${store.pets.count(dataset, null)}\n`));
  const rows = Array.from({ length: 90_000 }, (_, index) => ({
    name: `Pet ${(index * 7_919) % 90_000}`,
    categoryId: BigInt(index % 50),
    status: 'pending' as const,
  }));
  await store.pets.insertMany(dataset, rows);
} else await Promise.all(Array.from({ length: UNDER_WAY }, addForEver));
