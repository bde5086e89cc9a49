import type { Dataset } from '../base/dataset.ts';
import { LruMap } from '../base/lru.ts';
import type { Log } from '../base/log.ts';
import { createSignal } from '../base/signal.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Environment } from '../contract/values.ts';
import type { Connection } from './connection.ts';

/** Datasets kept at hand; 10,000 projects have 20,000. Beyond that, those unused longest are looked up again. */
const HANDLES_MAX = 20_000;

const ENVIRONMENTS: readonly Environment[] = ['production', 'staging'];

/** A dataset that exists: its number in the database, and how often it changed. */
export interface DatasetHandle {
  readonly id: number;
  readonly dataset: Dataset;
  /** Never the same after a change, in this run of the process. */
  revision: number;
}

/** Which datasets there are, and which have changed. */
export interface Datasets {
  /** @throws VivariumError `not_found` when there is no such project. */
  resolve(dataset: Dataset): DatasetHandle;
  /** 0 for a dataset that does not exist. */
  revision(dataset: Dataset): number;
  /** To be called after the commit of every change of a dataset. */
  changed(dataset: Dataset): void;
  onChanged(listener: (dataset: Dataset) => void): () => void;
  /** Makes the datasets of a new project; inside its transaction. */
  create(projectId: string): void;
  /** To be called after a project's removal. */
  removed(projectId: string): void;
}

export const noSuchProject = (projectId: string): VivariumError =>
  new VivariumError('not_found', `There is no project ${projectId}.`);

export function createDatasets(connection: Connection, log: Log): Datasets {
  const { sqlite, guarded } = connection;
  const handlesMax = HANDLES_MAX / ENVIRONMENTS.length;
  const handles: Record<Environment, LruMap<DatasetHandle>> = {
    production: new LruMap(handlesMax),
    staging: new LruMap(handlesMax),
  };
  const signal = createSignal<Dataset>();
  let revisions = 0;

  const select = sqlite
    .prepare<[string, string], number>('SELECT id FROM datasets WHERE project_id = ? AND environment = ?')
    .pluck();
  const insert = sqlite.prepare<[string, string]>('INSERT INTO datasets (project_id, environment) VALUES (?, ?)');
  const lookUp = guarded((dataset: Dataset) => select.get(dataset.projectId, dataset.environment));

  function find({ projectId, environment }: Dataset): DatasetHandle | null {
    const known = handles[environment].get(projectId);
    if (known !== undefined) return known;
    const id = lookUp({ projectId, environment });
    if (id === undefined) return null;
    const handle: DatasetHandle = { id, dataset: { projectId, environment }, revision: ++revisions };
    handles[environment].set(projectId, handle);
    return handle;
  }

  function tell(dataset: Dataset): void {
    try {
      signal.emit(dataset);
    } catch (error) {
      // The change is stored; whoever made it must not be told that it failed.
      log.error('A listener for changed pets failed', { error });
    }
  }

  return {
    resolve(dataset) {
      const handle = find(dataset);
      if (handle === null) throw noSuchProject(dataset.projectId);
      return handle;
    },
    revision: (dataset) => find(dataset)?.revision ?? 0,
    changed(dataset) {
      const handle = handles[dataset.environment].peek(dataset.projectId);
      if (handle !== undefined) handle.revision = ++revisions;
      tell(dataset);
    },
    onChanged: (listener) => signal.subscribe(listener),
    create(projectId) {
      for (const environment of ENVIRONMENTS) insert.run(projectId, environment);
    },
    removed(projectId) {
      for (const environment of ENVIRONMENTS) {
        handles[environment].delete(projectId);
        tell({ projectId, environment });
      }
    },
  };
}

/** Rows of one step: some 10 ms, after which others have their turn. A million pets in one statement take seconds. */
export const STEP_ROWS = 2_000;

/**
 * Deletes what is left of removed projects. Their datasets belong to no project from the moment of the removal, and
 * nothing can reach them; their rows go in steps between other work, and after a restart if need be.
 */
export interface Purge {
  /** Begins, unless it is running. */
  begin(): void;
  stop(): void;
}

export function createPurge({ sqlite, transactional }: Connection, log: Log): Purge {
  const orphan = sqlite.prepare<[], number>('SELECT id FROM datasets WHERE project_id IS NULL LIMIT 1').pluck();
  const removePets = sqlite.prepare<[number, number, number]>(
    `DELETE FROM pets WHERE dataset_id = ? AND id IN (SELECT id FROM pets WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
  );
  const removeOrders = sqlite.prepare<[number, number, number]>(
    `DELETE FROM orders WHERE dataset_id = ? AND id IN (SELECT id FROM orders WHERE dataset_id = ? ORDER BY id LIMIT ?)`,
  );
  const removeDataset = sqlite.prepare<[number]>('DELETE FROM datasets WHERE id = ?');
  let running = false;
  let stopped = false;

  /** Whether there may be more to do. */
  const step = transactional((): boolean => {
    let rowsLeft = STEP_ROWS;
    for (;;) {
      const id = orphan.get();
      if (id === undefined) return false;
      rowsLeft -= removePets.run(id, id, rowsLeft).changes;
      if (rowsLeft > 0) rowsLeft -= removeOrders.run(id, id, rowsLeft).changes;
      if (rowsLeft <= 0) return true;
      removeDataset.run(id);
    }
  });

  function turn(): void {
    running = false;
    if (stopped) return;
    try {
      if (step()) begin();
    } catch (error) {
      // Nobody waits for it: it goes on after the next removal, or the next start.
      log.warn('What is left of removed projects could not be deleted yet', { error });
    }
  }

  function begin(): void {
    if (running || stopped) return;
    running = true;
    setImmediate(turn);
  }

  return {
    begin,
    stop() {
      stopped = true;
    },
  };
}
