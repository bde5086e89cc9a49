import { messageOf } from '../base/error-code.ts';
import type { Breaks } from '../breaks/breaks.ts';
import type { AdjustableClock } from '../base/clock.ts';
import { conflict, type VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { SnapshotInfo } from '../contract/snapshots.ts';
import type { DemoKey } from './projects/demo.ts';
import type { Effects, SnapshotRow, SnapshotRows } from './dependencies.ts';
import type { Runs } from './runs/runs.ts';
import type { RestoredEntry, StoredTraffic, TrafficStorage } from '../traffic/stored.ts';

/** The worlds before the last restorations of files; the oldest is replaced. */
const BEFORE_FILE = ['before-file-1', 'before-file-2', 'before-file-3'] as const;

type Opened = Parameters<SnapshotRows['restore']>[0];

/** Ends work that takes several turns, so the rest does not reach the new world. */
export const restoredMeanwhile = (): VivariumError =>
  conflict('A snapshot was restored meanwhile, which ended this call; repeat it.');

export function createSnapshotServices(options: {
  rows: SnapshotRows;
  clock: Pick<AdjustableClock, 'now' | 'between'>;
  /** Identifies the root that signs leaves here. */
  root: () => string;
  demoKey: () => DemoKey | null;
  /** Writes the rate counters that are in memory. */
  flushCounters: () => void;
  /** Issues the leaves that a snapshot lacks. */
  issueMissing: () => Promise<void>;
  runs: Pick<Runs, 'interrupt' | 'restored'>;
  breaks: Pick<Breaks, 'edited' | 'stopAll'>;
  traffic: TrafficStorage;
  emit: Effects['emit'];
}): Services['snapshots'] {
  const { rows, clock, root, runs, traffic, emit } = options;
  let restoring = false;
  let restorations = 0;

  /** Reads the traffic, in turns; refuses to mix the traffic of two worlds. */
  async function keepTraffic(): Promise<StoredTraffic> {
    const before = restorations;
    const kept = await traffic.write();
    if (restorations !== before) throw restoredMeanwhile();
    return kept;
  }

  async function readTraffic({ name, traffic: content }: Opened): Promise<RestoredEntry[] | null> {
    try {
      return content === null ? null : await traffic.read(content);
    } catch (error) {
      const why = messageOf(error);
      throw conflict(`The snapshot "${name}" can't be restored: ${why}. Nothing was changed.`);
    }
  }

  /** Saves the present world under a name of its own; returns the name. */
  async function keepPrevious(): Promise<string> {
    const kept = rows.list().map((snapshot) => snapshot.name);
    const free = BEFORE_FILE.find((name) => !kept.includes(name));
    const name = free ?? kept.findLast((each) => BEFORE_FILE.some((own) => own === each)) ?? BEFORE_FILE[0];
    options.flushCounters();
    const target = { name, createdAtMs: clock.now(), root: root(), file: null, force: true, traffic: null };
    await rows.save({ ...target, demoKey: demoKey() });
    emit('snapshots.changed');
    return name;
  }

  async function replaceBy(
    source: Parameters<SnapshotRows['open']>[0],
    before: () => Promise<void> = () => Promise.resolve(),
  ): Promise<SnapshotInfo> {
    if (restoring) throw conflict('Another snapshot is being restored; wait for its answer.');
    restoring = true;
    try {
      const snapshot = await rows.open(source);
      await replaceWith(snapshot, before).finally(snapshot.close);
      if ('file' in source || snapshot.root !== root()) await options.issueMissing();
      return present(snapshot);
    } finally {
      restoring = false;
    }
  }

  async function replaceWith(snapshot: Opened, before: () => Promise<void>): Promise<void> {
    const recorded = await readTraffic(snapshot);
    try {
      await runs.interrupt();
      await options.breaks.stopAll();
      await before();
      await clock.between(() => {
        rows.restore(snapshot, { root: root(), demoKey: demoKey() });
        restorations += 1;
        if (recorded !== null) traffic.restore(recorded);
      });
      emit('world.restored');
    } finally {
      await runs.restored();
    }
  }

  function demoKey(): string | null {
    const key = options.demoKey();
    return key === null ? null : JSON.stringify(key);
  }

  return {
    list: () => rows.list().map(present),
    async save({ name, file = null, force, traffic: withTraffic }) {
      refuseEdited(options.breaks.edited());
      const recorded = withTraffic ? await keepTraffic() : null;
      options.flushCounters();
      const target = { name, createdAtMs: clock.now(), root: root(), file, force, traffic: recorded };
      const saved = await rows.save({ ...target, demoKey: demoKey() });
      emit('snapshots.changed');
      return present(saved);
    },
    restore: (source) => replaceBy(source),
    async restoreFile(source) {
      let previous = '';
      const restored = await replaceBy(source, async () => void (previous = await keepPrevious()));
      return { ...restored, previous };
    },
    remove({ name }) {
      const removed = rows.remove(name);
      emit('snapshots.changed');
      return present(removed);
    },
  };
}

/** A snapshot contains no breaks, so edits of breaks in it could never be repaired. */
function refuseEdited(edited: readonly string[]): void {
  if (edited.length === 0) return;
  throw conflict(
    `The world is broken on purpose (${edited.join(', ')}), and a saved one could not be repaired. Repair it, or end the drill, first: \`breaks.stopAll\`.`,
  );
}

const present = ({ name, createdAtMs, realTime, bytes, requests, fault }: SnapshotRow): SnapshotInfo => ({
  name,
  createdAt: new Date(createdAtMs).toISOString(),
  ...(realTime && { realTime }),
  bytes,
  ...(requests !== null && { requests }),
  ...(fault !== null && { fault }),
});
