import type { Dataset } from '../model/pet.ts';
import { LruMap } from '../base/lru.ts';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Environment } from '../contract/values.ts';
import type { Connection } from './connection.ts';

/** Cached datasets; 10,000 projects have 20,000. Beyond this, the least recently used are looked up again. */
const HANDLES_MAX = 20_000;

const ENVIRONMENTS: readonly Environment[] = ['production', 'staging'];

/** An existing dataset: its number in the database, and a counter of its changes. */
export interface DatasetHandle {
  readonly id: number;
  readonly dataset: Dataset;
  /** Differs after every change, within one run of the process. */
  revision: number;
}

/** The existing datasets and their revisions. */
export interface Datasets {
  /** @throws VivariumError `not_found` for an unknown project. */
  resolve(dataset: Dataset): DatasetHandle;
  /** 0 for a dataset that does not exist. */
  revision(dataset: Dataset): number;
  /** Call after the commit of every change to a dataset. */
  changed(dataset: Dataset): void;
  onChanged(listener: (dataset: Dataset) => void): () => void;
  /** Creates the datasets of a new project, inside its transaction. */
  create(projectId: string): void;
  /** Call after a project was removed. */
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
      // The change is committed; an error here must not reach the caller that made it.
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

/** Rows per step, some 10 ms, to let other work run. A million pets in one statement take seconds. */
export const STEP_ROWS = 2_000;

/**
 * Deletes the rows of removed projects. Their datasets are unreachable from the moment of removal; their rows are
 * deleted in steps between other work, also after a restart.
 */
export interface Purge {
  /** Starts, unless it is already running. */
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

  /** Returns whether more rows may remain. */
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
      // No caller waits for it: the next removal or start continues it.
      log.warn('Data of removed projects could not be deleted yet', { error });
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

/** Calls its listeners with each value, in order of subscription. Skips listeners that unsubscribe meanwhile. */
export interface Signal<Value> {
  emit(value: Value): void;
  subscribe(listener: (value: Value) => void): () => void;
}

export function createSignal<Value>(): Signal<Value> {
  const listeners = new Set<(value: Value) => void>();
  return {
    emit(value) {
      for (const listener of listeners) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
