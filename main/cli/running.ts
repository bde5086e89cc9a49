import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_FILE, type RuntimeFile } from '../base/config.ts';
import { codeOf } from '../base/error-code.ts';
import { typed } from '../base/own-command.ts';
import { VivariumError } from '../contract/errors.ts';

/** Address and token of a running Vivarium's control port. */
export type Running = Pick<RuntimeFile['control'], 'url' | 'token'> & { pid: number; dataDir: string };

/** No Vivarium is running; a class of its own because it has its own exit code. */
export class NotRunningError extends VivariumError {
  constructor(dataDir: string, reason: string, cause?: unknown) {
    super(
      'unavailable',
      `No Vivarium is running on ${dataDir} (${reason}). Start one with "${typed('vivarium start -d')}", or name its folder with --data-dir.`,
      { cause },
    );
  }
}

/** Loopback addresses only: a damaged or foreign file must not send the token elsewhere. */
const LOOPBACK_URL = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}$/;

/** Content of a data folder's `runtime.json`, not checked against the system. */
export type RuntimeReading =
  | { state: 'absent'; cause: unknown }
  | { state: 'damaged' }
  /** The folder is a copy of `original`, on which process `pid` runs. */
  | { state: 'copied'; pid: number; original: string }
  /** `code`: the system's reason, such as `EACCES`. */
  | { state: 'unreadable'; path: string; code: string; cause: unknown }
  | { state: 'read'; pid: number; alive: boolean; control: Running; ports: RuntimePorts };

/** The listeners' ports; missing ones are omitted. */
export type RuntimePorts = Partial<Record<'http' | 'https' | 'dns' | 'control', number>>;

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
      throw new NotRunningError(dataDir, `no ${RUNTIME_FILE}`, reading.cause);
    case 'damaged':
      throw new NotRunningError(dataDir, `${RUNTIME_FILE} is damaged`);
    case 'copied':
      throw new NotRunningError(
        dataDir,
        `its ${RUNTIME_FILE} is a copy: process ${reading.pid} serves ${reading.original}`,
      );
    case 'unreadable':
      throw new VivariumError(
        'forbidden',
        `${reading.path} cannot be read (${reading.code}): it is for its owner only.`,
        { cause: reading.cause },
      );
    case 'read':
      if (reading.alive) return reading.control;
      throw new NotRunningError(dataDir, `process ${reading.pid} ended without removing ${RUNTIME_FILE}`);
  }
}

export function readRuntime(dataDir: string): RuntimeReading {
  const path = join(dataDir, RUNTIME_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const code = codeOf(cause) ?? 'unknown';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { state: 'absent', cause }
      : { state: 'unreadable', path, code, cause };
  }
  return parse(text, dataDir) ?? { state: 'damaged' };
}

function parse(text: string, dataDir: string): RuntimeReading | null {
  try {
    const { pid, dataDir: own, control, http, https, dns } = JSON.parse(text) as Partial<RuntimeFile>;
    if (!Number.isSafeInteger(pid) || typeof pid !== 'number' || pid <= 0) return null;
    if (typeof control?.token !== 'string' || !LOOPBACK_URL.test(control.url)) return null;
    const alive = isAlive(pid);
    // A file of an older Vivarium has no folder.
    if (alive && typeof own === 'string' && isOther(own, dataDir)) return { state: 'copied', pid, original: own };
    return {
      state: 'read',
      pid,
      alive,
      control: { url: control.url, token: control.token, pid, dataDir },
      ports: {
        ...portOf('http', http?.port),
        ...portOf('https', https?.port),
        ...portOf('dns', dns?.port),
        ...portOf('control', Number(new URL(control.url).port)),
      },
    };
  } catch {
    return null;
  }
}

/** Whether both folders exist and differ; a folder that was renamed or is reached by a link is the same one. */
function isOther(one: string, another: string): boolean {
  const [first, second] = [identify(one), identify(another)];
  return first !== null && second !== null && (first.ino !== second.ino || first.dev !== second.dev);
}

function identify(folder: string): BigIntStats | null {
  try {
    return statSync(folder, { bigint: true });
  } catch {
    return null;
  }
}

const portOf = (name: keyof RuntimePorts, port: unknown): RuntimePorts =>
  Number.isInteger(port) ? { [name]: port } : {};

/** Whether the process exists, and has not ended already where its parent does not ask for that (Linux, containers). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    // EPERM: the process exists but belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

/** The state follows the program's name in proc_pid_stat(5), which may contain parentheses itself. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
