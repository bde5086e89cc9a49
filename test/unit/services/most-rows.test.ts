import { expect, it } from 'vitest';
import { createAcmeServices } from '../../../main/services/certificates/acme.ts';
import { createKeyServices } from '../../../main/services/projects/keys.ts';
import { createProjectServices } from '../../../main/services/projects/projects.ts';
import { createZoneServices } from '../../../main/services/zones/zones.ts';

/** Rows of which there are so many already, and the parts of a service that makes another. */
function partsWith(count: number): never {
  const list = () => Array.from({ length: count });
  const insert = (): never => {
    throw new Error('There is room.');
  };
  const get = (id: string) => (id === 'prj' ? {} : null);
  const rows = { count: () => count, list, get, getBySlug: () => null, insert, externalKeys: list, save: insert };
  const parts = { projects: rows, keys: rows, zones: rows, rows, clock: { now: () => 0 }, onRestored: () => undefined };
  return parts as never;
}

const CONTEXT = { signal: undefined };

it.each<[string, number, (parts: never) => unknown]>([
  ['projects', 20_000, (parts) => createProjectServices(parts).create({ name: 'A', plan: 'free' }, CONTEXT)],
  ['keys of a project', 1_000, (parts) => createKeyServices(parts).create({ projectId: 'prj', name: 'CI' }, CONTEXT)],
  ['zones', 1_000, (parts) => createZoneServices(parts).create({ name: 'a.test', supportsAlias: true }, CONTEXT)],
  ['external keys of ACME', 1_000, (parts) => createAcmeServices(parts).createExternalKey(undefined, CONTEXT)],
])('there are at most so many %s: %i', async (_what, max, create) => {
  const making = async (count: number) => create(partsWith(count));
  await expect(making(max - 1)).rejects.toThrow('There is room.');
  await expect(making(max)).rejects.toMatchObject({ code: 'conflict' });
});
