import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { listeningSockets, readProcessTable, socketsOf } from './port-holder.ts';

export interface Listener {
  port: number;
  /** The host to reach it: `localhost`, or one address if another program has the port at the other one. */
  host: string;
  pid: number;
}

/** A process, its parent and its session; on systems that do not name sessions, its group. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  session: number;
}

const run = promisify(execFile);

/** `ps`, `lsof` and `netstat` list every process of the machine. */
const OUTPUT = { maxBuffer: 16 * 1024 * 1024, windowsHide: true, timeout: 10_000 } as const;

/** The process, its descendants, and the processes that they left in its session. */
export function descendants(root: number, table: readonly ProcessEntry[]): Set<number> {
  const found = new Set([root]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { pid, parent, session } of table) if (found.has(parent) || session === root) found.add(pid);
  }
  return found;
}

export async function listProcesses(platform: NodeJS.Platform): Promise<ProcessEntry[]> {
  if (platform === 'linux') return readProcessTable();
  if (platform === 'win32')
    return parseColumns((await run('powershell', ['-NoProfile', '-Command', CIM], OUTPUT)).stdout);
  return parseColumns((await run('ps', ['-A', '-o', 'pid=,ppid=,pgid='], OUTPUT)).stdout);
}

const CIM =
  'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.ProcessId)" }';

/** Lines of `PID PARENT GROUP`. */
export function parseColumns(text: string): ProcessEntry[] {
  return text.split('\n').flatMap((line) => {
    const [pid = NaN, parent = NaN, session = NaN] = line.trim().split(/\s+/).map(Number);
    return Number.isInteger(pid) && Number.isInteger(parent) && Number.isInteger(session)
      ? [{ pid, parent, session }]
      : [];
  });
}

/** The ports that these processes listen on, lowest first; shared ports appear once. */
export async function listListeners(pids: ReadonlySet<number>, platform: NodeJS.Platform): Promise<Listener[]> {
  const found = await listSockets(pids, platform);
  const ports = [...new Set(found.filter(({ pid }) => pids.has(pid)).map(({ port }) => port))];
  return ports
    .sort((a, b) => a - b)
    .map((port) => {
      const there = found.filter((socket) => socket.port === port);
      const own = there.filter(({ pid }) => pids.has(pid));
      const isShared = own.length < there.length;
      return { port, host: isShared ? addressOf(own) : 'localhost', pid: own[0]?.pid ?? 0 };
    });
}

const addressOf = (own: readonly Socket[]): string => (own.some(({ isIPv6 }) => !isIPv6) ? '127.0.0.1' : '[::1]');

/** A listening socket; `pid` is 0 if the owner is unknown. */
interface Socket {
  port: number;
  isIPv6: boolean;
  pid: number;
}

async function listSockets(pids: ReadonlySet<number>, platform: NodeJS.Platform): Promise<Socket[]> {
  if (platform === 'linux') return linuxSockets(pids);
  if (platform === 'win32') return parseNetstat((await run('netstat', ['-ano'], OUTPUT)).stdout);
  // Exits with 1 if nothing listens.
  const lsof = await run('lsof', ['-nP', '-iTCP', '-sTCP:LISTEN', '-Fptn'], OUTPUT).catch(() => ({ stdout: '' }));
  return parseLsof(lsof.stdout);
}

function linuxSockets(pids: ReadonlySet<number>): Socket[] {
  const listening = listeningSockets();
  const holders = new Map([...pids].flatMap((pid) => socketsOf(pid).map((inode) => [inode, pid] as const)));
  return listening.map(({ inode, port, isIPv6 }) => ({ port, isIPv6, pid: holders.get(inode) ?? 0 }));
}

/** The fields of `lsof -F`: `p` begins a process, `f` a file, `t` is its type, `n` the address. */
export function parseLsof(text: string): Socket[] {
  const found: Socket[] = [];
  let pid = 0;
  let isIPv6 = false;
  for (const line of text.split('\n')) {
    const value = line.slice(1);
    if (line.startsWith('p')) pid = Number(value);
    else if (line.startsWith('t')) isIPv6 = value === 'IPv6';
    else if (line.startsWith('n')) {
      const port = Number(/:(\d+)$/.exec(value)?.[1]);
      if (Number.isInteger(port)) found.push({ port, isIPv6, pid });
    }
  }
  return found;
}

/** `  TCP    [::1]:5173    [::]:0    LISTENING    4711`; the state is in the system's language, the foreign port 0. */
export function parseNetstat(text: string): Socket[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*TCP\s+(\S+):(\d+)\s+\S+:0\s+\S+\s+(\d+)\s*$/.exec(line);
    return match === null
      ? []
      : [{ port: Number(match[2]), isIPv6: match[1]?.startsWith('[') === true, pid: Number(match[3]) }];
  });
}
