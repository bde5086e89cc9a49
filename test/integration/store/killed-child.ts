/**
 * A process that works on copies and is killed: its arguments are the kind of work, a data folder, the file of the copy,
 * and the step at which it ends.
 */
import { join } from 'node:path';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { restoreFolder } from '../../../main/store/copies/folder-backup.ts';
import { openStore } from '../../../main/store/store.ts';
import { atEachStep } from './at-each-step.ts';

const [kind = '', directory = '', file = '', last = ''] = process.argv.slice(2);
const store =
  kind === 'restore' ? null : openStore({ file: join(directory, 'vivarium.db'), clock: createClock(), log: silentLog });

async function work(): Promise<void> {
  if (store === null) return void restoreFolder(directory, file);
  if (kind === 'backup') return void (await store.backUpTo({ file, force: true }));
  const snapshot = await store.snapshots.open({ file });
  store.snapshots.restore(snapshot, { root: snapshot.root, demoKey: null });
}

await atEachStep(work, (step) => {
  if (step === Number(last)) process.kill(process.pid, 'SIGKILL');
});
