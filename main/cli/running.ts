import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_FILE, type RuntimeFile } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';

/** Where the control port of a running Vivarium is, and what it asks for. */
export type Running = Pick<RuntimeFile['control'], 'url' | 'token'> & { dataDir: string };

/** There is no Vivarium to ask; its own class, because it has an exit code of its own. */
export class NotRunningError extends VivariumError {
  constructor(dataDir: string, reason: string, cause?: unknown) {
    super(
      'unavailable',
      `No Vivarium is running on ${dataDir} (${reason}). Start one with "vivarium serve", or name its folder with --data-dir.`,
      { cause },
    );
  }
}

/** The token goes to this machine only, whatever a damaged or foreign file says. */
const LOOPBACK_URL = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}$/;

/**
 * The Vivarium that runs on a data folder. That its process is there says nothing yet of its port; the caller finds out.
 * @throws NotRunningError when there is no runtime file, or the one that is there was left behind.
 * @throws VivariumError `forbidden` when the file is another user's.
 */
export function findRunning(dataDir: string): Running {
  const { pid, control } = readRuntimeFile(dataDir);
  if (!isAlive(pid)) throw new NotRunningError(dataDir, `process ${pid} ended without removing ${RUNTIME_FILE}`);
  return { ...control, dataDir };
}

function readRuntimeFile(dataDir: string): Pick<RuntimeFile, 'pid' | 'control'> {
  const path = join(dataDir, RUNTIME_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new NotRunningError(dataDir, `no ${RUNTIME_FILE}`, cause);
    throw new VivariumError('forbidden', `${path} cannot be read (${code ?? 'unknown'}): it is for its owner only.`, {
      cause,
    });
  }
  const file = parse(text);
  if (file === null) throw new NotRunningError(dataDir, `${RUNTIME_FILE} is damaged`);
  return file;
}

function parse(text: string): Pick<RuntimeFile, 'pid' | 'control'> | null {
  try {
    const { pid, control } = JSON.parse(text) as Partial<RuntimeFile>;
    if (!Number.isSafeInteger(pid) || typeof pid !== 'number' || pid <= 0) return null;
    if (typeof control?.token !== 'string' || !LOOPBACK_URL.test(control.url)) return null;
    return { pid, control: { url: control.url, token: control.token } };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
