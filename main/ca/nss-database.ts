import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { VivariumError } from '../contract/errors.ts';
import type { RunCommand } from './command.ts';
import { addCommand, makeCommand, nicknameOf } from './nss-certutil.ts';

/** Where Chromium looks for it below its home folder on Linux. */
const IN_HOME = join('.pki', 'nssdb');

/**
 * Makes the trust store of a home folder that was made for one browser: our root, and nothing else.
 * @throws VivariumError `unavailable` when `certutil` fails.
 */
export async function trustInHome(
  home: string,
  { run, certutil, root }: { run: RunCommand; certutil: string; root: { fingerprint: string; file: string } },
): Promise<void> {
  const folder = join(home, IN_HOME);
  mkdirSync(folder, { recursive: true });
  const database = `sql:${folder}`;
  for (const command of [
    makeCommand(certutil, database),
    addCommand(certutil, database, nicknameOf(root.fingerprint), root.file),
  ]) {
    const { exitCode, stderr } = await run(command);
    if (exitCode !== 0) {
      throw new VivariumError(
        'unavailable',
        `certutil could not make a trust store: ${stderr.trim() || 'no reason given'}.`,
      );
    }
  }
}
