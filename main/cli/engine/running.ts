import { RUNTIME_FILE } from '../../base/config.ts';
import { reasonOf } from '../../base/error-code.ts';
import { ownCommand } from '../../base/system/own-command.ts';
import { readRuntime, type Running } from '../../base/system/runtime-file.ts';
import { VivariumError } from '../../contract/errors.ts';

/** No Vivarium is running; a separate class because it has its own exit code. */
export class NotRunningError extends VivariumError {
  /** `reason`: null if nothing indicates a Vivarium. */
  constructor(dataDir: string, reason: string | null, cause?: unknown) {
    const start = ownCommand(dataDir)('vivarium start -d');
    const otherwise = start.includes(' --data-dir ') ? '' : ', or name its folder with --data-dir';
    super(
      'unavailable',
      `No Vivarium is running on ${dataDir}${reason === null ? '' : ` (${reason})`}. Start one with "${start}"${otherwise}.`,
      { cause },
    );
  }
}

/**
 * Finds the Vivarium that runs on a data folder. Checks only that its process exists; the caller finds out whether it
 * answers.
 * @throws NotRunningError when there is no runtime file, or a stale one.
 * @throws VivariumError `forbidden` when the file belongs to another user.
 */
export function findRunning(dataDir: string): Running {
  const reading = readRuntime(dataDir);
  switch (reading.state) {
    case 'absent':
      throw new NotRunningError(dataDir, null, reading.cause);
    case 'damaged':
      throw new NotRunningError(dataDir, `its ${RUNTIME_FILE} is damaged`);
    case 'copied':
      throw new NotRunningError(
        dataDir,
        `its ${RUNTIME_FILE} is a copy: process ${reading.pid} serves ${reading.original}`,
      );
    case 'unreadable':
      throw new VivariumError(
        'forbidden',
        `${reading.path} cannot be read (${reasonOf(reading.cause)}). Run the command as the user who started that Vivarium.`,
        { cause: reading.cause },
      );
    case 'read':
      if (reading.alive) return reading.control;
      throw new NotRunningError(dataDir, 'the last one there did not stop properly');
  }
}
