import { z } from 'zod';
import type { Dataset } from '../../model/pet.ts';
import { LruMap } from '../../base/lru.ts';
import type { Log } from '../../base/log.ts';
import { notFound, type VivariumError } from '../../contract/errors.ts';
import { environment, identifier, petStatus, type Environment } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { count, table } from './table.ts';
import { nextTurn } from '../../base/turns.ts';

/** Cached datasets; 10,000 projects have 20,000. Beyond this, the least recently used are looked up again. */
const HANDLES_MAX = 20_000;

const ENVIRONMENTS: readonly Environment[] = environment.options;

export const DATASETS = table('datasets', ['id'], {
  id: count,
  projectId: identifier.nullable(),
  environment,
  lastPetId: z
    .number()
    .min(0)
    .max(2 ** 53),
  lastOrderId: count,
});

/** Kept by triggers. The sum of all stays an exact number. */
export const PET_COUNTS = table('pet_counts', ['dataset_id', 'status'], {
  datasetId: count,
  status: petStatus,
  pets: count.max(10 ** 9),
});

/** Counts the pets of projects anew, where no trigger has done it. */
export const RECOUNT = `
  INSERT OR REPLACE INTO pet_counts (dataset_id, status, pets)
    SELECT datasets.id, value, (SELECT count(*) FROM pets WHERE dataset_id = datasets.id AND status = value)
    FROM datasets, json_each('["available", "pending", "sold"]') WHERE project_id IS NOT NULL;`;

/** An existing dataset: its number in the database, and a counter of its changes. */
export interface DatasetHandle {
  readonly id: number;
  readonly dataset: Dataset;
  /** Differs after every change, within one run of the process. */
  revision: number;
}

/** The existing datasets and their revisions. */
export type Datasets = ReturnType<typeof createDatasets>;

export const noSuchProject = (projectId: string): VivariumError => notFound(`There is no project ${projectId}.`);

export function createDatasets({ run, value }: Connection, log: Log) {
  const handlesMax = HANDLES_MAX / ENVIRONMENTS.length;
  const handles: Record<Environment, LruMap<DatasetHandle>> = {
    production: new LruMap(handlesMax),
    staging: new LruMap(handlesMax),
  };
  const signal = createSignal<Dataset>();
  let revisions = 0;

  const insert = run<[string, string]>('INSERT INTO datasets (project_id, environment) VALUES (?, ?)');
  const lookUp = value<[string, string], number>('SELECT id FROM datasets WHERE project_id = ? AND environment = ?');

  function find({ projectId, environment }: Dataset): DatasetHandle | null {
    const known = handles[environment].get(projectId);
    if (known !== undefined) return known;
    const id = lookUp(projectId, environment);
    if (id === null) return null;
    const handle: DatasetHandle = { id, dataset: { projectId, environment }, revision: ++revisions };
    handles[environment].set(projectId, handle);
    return handle;
  }

  function tell(dataset: Dataset): void {
    try {
      signal.emit(dataset);
    } catch (error) {
      // The change is committed; an error here must not reach the caller that made it.
      log.error('A listener for changed pets failed', { error });
    }
  }

  return {
    /** @throws VivariumError `not_found` for an unknown project. */
    resolve(dataset: Dataset): DatasetHandle {
      const handle = find(dataset);
      if (handle === null) throw noSuchProject(dataset.projectId);
      return handle;
    },
    /** 0 for a dataset that does not exist. */
    revision: (dataset: Dataset): number => find(dataset)?.revision ?? 0,
    /** Call after the commit of every change to a dataset. */
    changed(dataset: Dataset): void {
      const handle = handles[dataset.environment].peek(dataset.projectId);
      if (handle !== undefined) handle.revision = ++revisions;
      tell(dataset);
    },
    onChanged: (listener: (dataset: Dataset) => void): (() => void) => signal.subscribe(listener),
    /** Creates the datasets of a new project, inside its transaction. */
    create(projectId: string): void {
      for (const environment of ENVIRONMENTS) insert(projectId, environment);
    },
    /** Call after a project was removed. */
    removed(projectId: string): void {
      for (const environment of ENVIRONMENTS) {
        handles[environment].delete(projectId);
        tell({ projectId, environment });
      }
    },
    /** Call after all content was replaced: every dataset has a new revision. */
    forget(): void {
      for (const environment of ENVIRONMENTS) handles[environment].clear();
    },
  };
}

/** Calls its listeners with each value, in order of subscription. Skips listeners that unsubscribe meanwhile. */
export function createSignal<Value>() {
  const listeners = new Set<(value: Value) => void>();
  return {
    emit(value: Value): void {
      for (const listener of listeners) listener(value);
    },
    subscribe(listener: (value: Value) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Rows per step, some 10 ms, to let other work run. A million pets in one statement take seconds. */
export const STEP_ROWS = 2_000;

/** Records per step; each row is in five indexes, in random places of one of them. */
export const STEP_RECORDS = 300;

/**
 * Deletes the rows of removed projects and zones. These are unreachable from the moment of removal; their rows are
 * deleted in steps between other work, also after a restart.
 */
export function createPurge({ sqlite, value, run, inPart }: Connection, log: Log) {
  const orphan = value<[], number>('SELECT id FROM datasets WHERE project_id IS NULL LIMIT 1');
  const removal = (table: string) =>
    sqlite.prepare<[number, number, number]>(
      `DELETE FROM ${table} WHERE dataset_id = ? AND id IN (SELECT id FROM ${table} WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
    );
  const [removePets, removeOrders] = [removal('pets'), removal('orders')];
  const removeDataset = run<[id: number]>('DELETE FROM datasets WHERE id = ?');
  const removedZone = value<[], string>('SELECT name FROM zones WHERE removed = 1 LIMIT 1');
  const removeRecords = sqlite.prepare<[string, number]>(
    'DELETE FROM records WHERE key IN (SELECT key FROM records WHERE zone = ? LIMIT ?)',
  );
  const removeZone = run<[name: string]>('DELETE FROM zones WHERE name = ?');
  let running: Promise<void> | null = null;
  let stopped = false;

  /** Both return whether more rows may remain. A power failure undoes steps, and the next start repeats them. */
  const stepOfDatasets = inPart((): boolean => {
    let rowsLeft = STEP_ROWS;
    for (;;) {
      const id = orphan();
      if (id === null) return false;
      rowsLeft -= removePets.run(id, id, rowsLeft).changes;
      if (rowsLeft > 0) rowsLeft -= removeOrders.run(id, id, rowsLeft).changes;
      if (rowsLeft <= 0) return true;
      removeDataset(id);
    }
  });
  const stepOfZones = inPart((): boolean => {
    let rowsLeft = STEP_RECORDS;
    for (;;) {
      const name = removedZone();
      if (name === null) return false;
      rowsLeft -= removeRecords.run(name, rowsLeft).changes;
      if (rowsLeft <= 0) return true;
      removeZone(name);
    }
  });

  async function purge(): Promise<void> {
    try {
      do await nextTurn();
      while (!stopped && (stepOfZones() || stepOfDatasets()));
    } catch (error) {
      // The removal itself is stored: the next removal or start continues.
      log.warn('Data of removed projects or zones could not be deleted yet', { error });
    } finally {
      running = null;
    }
  }

  return {
    /** Starts, unless it is already running. Resolves when no rows are left, or the next start has to continue. */
    begin: (): Promise<void> => (running ??= purge()),
    stop(): void {
      stopped = true;
    },
  };
}
