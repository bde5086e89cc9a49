/** A process that restores a backup and is killed: its arguments are the data folder, the backup, and the operation. */
import { restoreFolder } from '../../../main/store/copies/folder-restore.ts';
import { interceptFiles } from './failing-files.ts';

const [directory = '', file = '', operation = ''] = process.argv.slice(2);

interceptFiles(
  Number(operation),
  () => restoreFolder(directory, file),
  () => process.kill(process.pid, 'SIGKILL'),
);
