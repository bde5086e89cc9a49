import { fail } from 'node:assert';
import { expect, it } from 'vitest';
import { createAcmeServices } from '../../../main/services/certificates/acme.ts';
import { createKeyServices } from '../../../main/services/projects/keys.ts';
import { createProjectServices } from '../../../main/services/projects/projects.ts';
import { createRecordWriter } from '../../../main/services/zones/record-writer.ts';
import { createZoneServices } from '../../../main/services/zones/zones.ts';

/** The parts of a service that is to make one more of what there are so many. */
function partsWith(count: number): never {
  const list = () => Array.from({ length: count });
  const insert = () => fail('There is room.');
  const get = (id: string) => (id === 'prj' ? {} : null);
  const rows = { count: () => count, list, get, getBySlug: () => null, insert, externalKeys: list, save: insert };
  const records = { count: () => ({ current: count, versions: count }), concerned: () => [], apply: insert };
  const times = { clock: { now: () => 0 }, onRestored: () => undefined, propagationMs: () => 0 };
  return { projects: rows, keys: rows, zones: rows, rows, records, ...times } as never;
}

const CALL = { signal: undefined };
const RECORD = { name: 'a.test', ttlSeconds: 60, data: { type: 'A', address: '127.0.0.1' } } as const;

it.each<[string, number, (parts: never) => unknown]>([
  ['projects', 20_000, (parts) => createProjectServices(parts).create({ name: 'A', plan: 'free' }, CALL)],
  ['keys of a project', 1_000, (parts) => createKeyServices(parts).create({ projectId: 'prj', name: 'CI' }, CALL)],
  ['zones', 1_000, (parts) => createZoneServices(parts).create({ name: 'a.test', supportsAlias: true }, CALL)],
  ['records', 100_000, (parts) => createRecordWriter(parts).put('a.test', [RECORD])],
  ['external keys of ACME', 1_000, (parts) => createAcmeServices(parts).createExternalKey(undefined, CALL)],
])('there are at most so many %s: %i', async (_what, max, create) => {
  const making = async (count: number) => create(partsWith(count));
  await expect(making(max - 1)).rejects.toThrow('There is room.');
  await expect(making(max)).rejects.toMatchObject({ code: 'conflict' });
});
