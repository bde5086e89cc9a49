import { orElse } from '../../contract/errors.ts';
import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RUNTIME_FILE, type RuntimeFile } from '../config.ts';
import { codeOf } from '../error-code.ts';

/** Address and token of a running Vivarium's control port. */
export type Running = Pick<RuntimeFile['control'], 'url' | 'token'> & { pid: number; dataDir: string };

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

/** Reads a data folder’s `runtime.json`, and checks whether its process exists. */
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

const identify = (folder: string): BigIntStats | null => orElse(() => statSync(folder, { bigint: true }), null);

const portOf = (name: keyof RuntimePorts, port: unknown): RuntimePorts =>
  Number.isInteger(port) ? { [name]: port } : {};

/** Whether the process exists and has not ended unnoticed by its parent (Linux, containers). */
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
const isZombie = (pid: number): boolean =>
  orElse(() => /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')), false);
