import type { AdjustableClock } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { SnapshotInfo } from '../contract/snapshots.ts';
import type { DemoKey } from './demo.ts';
import type { Effects, SnapshotRow, SnapshotRows } from './dependencies.ts';
import type { Runs } from './runs.ts';

/** Ends work in turns: what is left of it does not go into another world. */
export const restoredMeanwhile = (): VivariumError =>
  new VivariumError('conflict', 'A snapshot was restored meanwhile, so this ended; do it again.');

export function createSnapshotServices(options: {
  rows: SnapshotRows;
  clock: Pick<AdjustableClock, 'now' | 'between'>;
  /** Identifies the root that signs leaves here. */
  root: () => string;
  demoKey: () => DemoKey | null;
  /** Writes the rate counters that are in memory. */
  flushCounters: () => void;
  /** Issues the leaves that a snapshot does not have. */
  issueMissing: () => Promise<void>;
  runs: Pick<Runs, 'interrupt' | 'restored'>;
  emit: Effects['emit'];
}): Services['snapshots'] {
  const { rows, clock, root, runs, emit } = options;
  let restoring = false;

  async function replaceBy(source: Parameters<SnapshotRows['open']>[0]): Promise<SnapshotInfo> {
    if (restoring) throw new VivariumError('conflict', 'Another snapshot is being restored; wait for its answer.');
    restoring = true;
    try {
      const snapshot = await rows.open(source);
      await replaceWith(snapshot).finally(snapshot.close);
      if ('file' in source || snapshot.root !== root()) await options.issueMissing();
      return present(snapshot);
    } finally {
      restoring = false;
    }
  }

  async function replaceWith(snapshot: Parameters<SnapshotRows['restore']>[0]): Promise<void> {
    try {
      await runs.interrupt();
      await clock.between(() => rows.restore(snapshot, root()));
      emit('world.restored');
    } finally {
      await runs.restored();
    }
  }

  return {
    list: () => rows.list().map(present),
    async save({ name, file = null, force }) {
      options.flushCounters();
      const key = options.demoKey();
      const demoKey = key === null ? null : JSON.stringify(key);
      const saved = await rows.save({ name, createdAtMs: clock.now(), root: root(), file, force, demoKey });
      emit('snapshots.changed');
      return present(saved);
    },
    restore: replaceBy,
    restoreFile: replaceBy,
    remove({ name }) {
      const removed = rows.remove(name);
      emit('snapshots.changed');
      return present(removed);
    },
  };
}

const present = ({ name, createdAtMs, bytes, fault }: SnapshotRow): SnapshotInfo => ({
  name,
  createdAt: new Date(createdAtMs).toISOString(),
  bytes,
  ...(fault !== null && { fault }),
});
