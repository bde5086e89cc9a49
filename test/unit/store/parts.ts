import { onTestFinished } from 'vitest';
import type { Dataset } from '../../../main/model/pet.ts';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError, type ErrorCode } from '../../../main/contract/errors.ts';
import { type DatabaseOptions, openDatabase } from '../../../main/store/database.ts';
import { createDatasets, createPurge } from '../../../main/store/tables/datasets.ts';
import type { PetQuery } from '../../../main/store/tables/pet-listing.ts';
import { createPets, type Pets } from '../../../main/store/tables/pets.ts';
import { createProjects, type ProjectRow } from '../../../main/store/tables/projects.ts';
import { openStore } from '../../../main/store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

export const HERE: Dataset = { projectId: 'prj_here', environment: 'production' };
export const STAGING: Dataset = { projectId: 'prj_here', environment: 'staging' };

export function projectRow(id: string, more: Partial<ProjectRow> = {}): ProjectRow {
  return {
    id,
    name: `Project ${id}`,
    slug: id.replaceAll('_', '-'),
    plan: 'free',
    limits: null,
    target: { kind: 'api' },
    primary: null,
    redirects: [],
    persona: 'animal-store',
    createdAtMs: 1_000,
    ...more,
  };
}

/** An ephemeral store with the project of `HERE` and `STAGING`; closed after the test. */
export type Store = ReturnType<typeof openStore>;

export function memoryStore(): Store {
  const store = openStore({ file: ':memory:', clock: createFakeClock(), log: silentLog });
  onTestFinished(() => store.close());
  store.projects.insert(projectRow(HERE.projectId));
  return store;
}

/** The same in parts, for tests that access the tables: to set a sequence, or to inspect their rows. */
export function memoryParts(more: Partial<DatabaseOptions> = {}) {
  const clock = createFakeClock();
  const { connection } = openDatabase({ file: ':memory:', clock, log: silentLog, ...more });
  const datasets = createDatasets(connection, silentLog);
  const purge = createPurge(connection, silentLog);
  const projects = createProjects(connection, datasets, () => void purge.begin());
  const pets = createPets(connection, datasets);
  onTestFinished(() => {
    purge.stop();
    pets.close();
    connection.sqlite.close();
  });
  projects.insert(projectRow(HERE.projectId));
  return { clock, connection, sqlite: connection.sqlite, datasets, projects, pets, purge };
}

export const pet = (name: string, status: 'available' | 'pending' | 'sold' = 'available') => ({
  name,
  categoryId: 1n,
  status,
});

/** A query for pets: by id from the first on, by default. */
export const query = (more: Partial<PetQuery> = {}): PetQuery => ({
  status: null,
  search: null,
  sort: 'id',
  descending: false,
  limit: 100,
  from: { offset: 0, anchor: null },
  ...more,
});

export const allPets = (pets: Pets, dataset: Dataset) =>
  pets.page(dataset, { status: null, limit: 100_000, after: null }).pets;

/** The error that `work` throws; fails if it throws nothing, or an error that is not for users. */
export function faultOf(work: () => unknown): { code: ErrorCode; message: string } {
  try {
    work();
  } catch (error) {
    if (error instanceof VivariumError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

/** The same as text: `code: message`. */
export function refusalOf(work: () => unknown): string {
  const { code, message } = faultOf(work);
  return `${code}: ${message}`;
}

/** Lets the event loop turn until `done`; the test's own timeout is the limit. */
export async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}
