import { messageOf } from '../base/error-code.ts';
import type { Breaks } from '../breaks/breaks.ts';
import type { AdjustableClock } from '../base/clock.ts';
import { conflict, type VivariumError } from '../contract/errors.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import type { Services } from '../contract/index.ts';
import type { RestoredSnapshot, SnapshotInfo } from '../contract/snapshots.ts';
import type { DemoKey } from './projects/demo.ts';
import { inputError } from './projects/project-rules.ts';
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

  async function save(target: { name: string; file?: string; traffic: boolean; force: boolean }) {
    const { file = null, traffic: withTraffic, ...named } = target;
    const recorded = withTraffic ? await keepTraffic() : null;
    options.flushCounters();
    const now = { createdAtMs: clock.now(), root: root(), demoKey: demoKey() };
    const saved = await rows.save({ ...named, ...now, file, traffic: recorded });
    emit('snapshots.changed');
    return present(saved);
  }

  /** The name under which the world before the restoration of a file is saved. */
  function previousName(): string {
    const kept = rows.list().map((snapshot) => snapshot.name);
    const free = BEFORE_FILE.find((name) => !kept.includes(name));
    return free ?? kept.findLast((each) => BEFORE_FILE.some((own) => own === each)) ?? BEFORE_FILE[0];
  }

  /** `keep`: the name under which the present world is saved first. */
  async function replaceBy(source: Parameters<SnapshotRows['open']>[0], keep?: string): Promise<RestoredSnapshot> {
    if (restoring) throw conflict('Another snapshot is being restored; wait for its answer.');
    restoring = true;
    try {
      const snapshot = await rows.open(source);
      const ended = await replaceWith(snapshot, keep).finally(snapshot.close);
      if ('file' in source || snapshot.root !== root()) await options.issueMissing();
      return { ...present(snapshot), ...(ended.length > 0 && { ended }) };
    } finally {
      restoring = false;
    }
  }

  async function replaceWith(snapshot: Opened, keep?: string): Promise<RunningBreak[]> {
    const recorded = await readTraffic(snapshot);
    try {
      await runs.interrupt();
      const ended = await options.breaks.stopAll();
      // Traffic that the snapshot replaces is kept as well.
      if (keep !== undefined) await save({ name: keep, traffic: recorded !== null, force: true });
      await clock.between(() => {
        rows.restore(snapshot, { root: root(), demoKey: demoKey() });
        restorations += 1;
        if (recorded !== null) traffic.restore(recorded);
      });
      emit('world.restored');
      return ended;
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
    async save(target) {
      refuseEdited(options.breaks.edited());
      return save(target);
    },
    async restore({ name, keep }) {
      if (keep === name) throw inputError('keep', 'must not be the name of the snapshot that is restored.');
      return replaceBy({ name }, keep);
    },
    async restoreFile(source) {
      const previous = previousName();
      return { ...(await replaceBy(source, previous)), previous };
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
