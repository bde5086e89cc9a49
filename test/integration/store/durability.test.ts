import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { petSort } from '../../../main/contract/values.ts';
import { allPets, HERE, query } from '../../unit/store/parts.ts';
import { contentOf, newDatabase, openFile } from './files.ts';
import { valueIn } from '../../support/sqlite.ts';

const CHILD = join(import.meta.dirname, 'adding-child.ts');

/** Acknowledged ids before the kill: early, and after checkpoints of the log have begun (1,000 pages). */
const MOMENTS = [1, 300, 9_000];

async function addUntilKilled(file: string, acknowledgedMin: number, how = 'add'): Promise<bigint[]> {
  const child = spawn(process.execPath, [CHILD, file, how], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'close');
  let output = '';
  let lines = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    lines += chunk.toString().split('\n').length - 1;
    if (lines >= acknowledgedMin) child.kill('SIGKILL');
  });
  const [code, signal] = (await exit) as [number | null, string | null];
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return output
    .slice(0, output.lastIndexOf('\n'))
    .split('\n')
    .map((line) => BigInt(line));
}

describe('a killed process', () => {
  it.each(MOMENTS)('has lost none of the acknowledged pets, killed after %d pets', async (acknowledgedMin) => {
    const file = await newDatabase();
    const acknowledged = await addUntilKilled(file, acknowledgedMin);
    expect(acknowledged.length).toBeGreaterThanOrEqual(acknowledgedMin);
    expect(contentOf(dirname(file)).get('vivarium.db-wal')?.length).toBeGreaterThan(0);

    const store = openFile(file);
    const ids = new Set(allPets(store.pets, HERE).map(({ id }) => id));
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    expect(store.pets.count(HERE, null)).toBe(ids.size);
    expect(store.warnings).toEqual([]);
    const next = store.pets.insert(HERE, { name: 'next', categoryId: 1n, status: 'available' });
    expect(next.id).toBe(BigInt(ids.size) + 1n);
  });

  it.each([1, 20, 60])(
    'during an import leaves its first transactions, whole: killed after %d',
    async (transactions) => {
      const file = await newDatabase();
      const stored = await addUntilKilled(file, transactions, 'import');

      const store = openFile(file);
      const ids = allPets(store.pets, HERE).map(({ id }) => id);
      expect(ids.length).toBeGreaterThanOrEqual(Number(stored.at(-1)));
      expect(ids.length % 500).toBe(0);
      expect(ids.at(-1)).toBe(BigInt(ids.length));
      expect(store.pets.count(HERE, 'pending')).toBe(ids.length);
      for (const sort of petSort.options) {
        expect(
          store.pets.list(HERE, query({ sort, from: { offset: ids.length - 1, anchor: null } })).items,
        ).toHaveLength(1);
      }
      expect(store.warnings).toEqual([]);
      store.close();
      expect(valueIn(file, 'PRAGMA integrity_check')).toBe('ok');
    },
  );
});
