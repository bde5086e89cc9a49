import { namesIn } from './files.ts';
import { orElse } from '../../contract/errors.ts';
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface PortHolder {
  pid: number;
  name: string;
}

/** The states in /proc/net/tcp and udp of listening sockets: LISTEN; for UDP, not connected. */
const WAITING_STATES = { tcp: '0A', udp: '07' } as const;
export type Transport = keyof typeof WAITING_STATES;

/**
 * The process that occupies a port: ` by <name> (pid <n>)`, or empty if unknown (other systems, other users'
 * processes). This process is checked last: it may hold the port at another address.
 */
export function describePortHolder(port: number, transport: Transport): string {
  const holder = findPortHolder(port, { transport, besides: process.pid }) ?? findPortHolder(port, { transport });
  return holder === null ? '' : ` by ${holder.name} (pid ${holder.pid})`;
}

/**
 * Searches Linux's /proc for the listener, without starting a program, skipping process `besides`. Null if none is
 * found or visible.
 */
export function findPortHolder(
  port: number,
  { proc = '/proc', transport = 'tcp', besides }: { proc?: string; transport?: Transport; besides?: number } = {},
): PortHolder | null {
  const tables = [transport, `${transport}6`].map((table) => lines(`${proc}/net/${table}`));
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port, transport)));
  if (inodes.size === 0) return null;
  const sockets = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  // Checks our own process first, because a machine with many processes takes a while.
  for (const pid of new Set([String(process.pid), ...namesIn(proc)])) {
    if (!/^\d+$/.test(pid) || Number(pid) === besides) continue;
    const files = namesIn(`${proc}/${pid}/fd`);
    if (files.some((file) => sockets.has(link(`${proc}/${pid}/fd/${file}`)))) {
      return { pid: Number(pid), name: programName(lines(`${proc}/${pid}/cmdline`)[0] ?? '') };
    }
  }
  return null;
}

/**
 * The first word of a command line, without its folder and without characters that a terminal would interpret. `comm`
 * would give a thread name, such as Node's `MainThread`.
 */
function programName(commandLine: string): string {
  const [program = ''] = commandLine.split('\0');
  return program.slice(program.lastIndexOf('/') + 1).replace(/\p{C}/gu, '?') || 'a process';
}

/** The inodes of sockets listening on `port`, from the lines of a proc(5) table such as /proc/net/tcp. */
export const listeningInodes = (table: readonly string[], port: number, transport: Transport = 'tcp'): string[] =>
  rowsOf(table).flatMap(({ localPort, state, inode }) =>
    localPort === port && state === WAITING_STATES[transport] && inode !== '0' ? [inode] : [],
  );

/** The sockets of a proc(5) table, after its head: `0: 0100007F:1F90 00000000:0000 0A … uid … inode`. */
const rowsOf = (table: readonly string[]) =>
  table.flatMap((line) => {
    const [, local = '', remote = '', state = '', , , , uid = '', , inode = '0'] = line.trim().split(/\s+/);
    const [localPort, remotePort] = [portOf(local), portOf(remote)];
    return /^\d+$/.test(uid) ? [{ localPort, remotePort, state, uid: Number(uid), inode }] : [];
  });

const portOf = (address: string): number => parseInt(address.slice(address.lastIndexOf(':') + 1), 16);

/**
 * The user who owns the client's end of a connection on this machine, from Linux's /proc. Null if unknown, as on other
 * systems.
 */
export const findConnectionOwner = (clientPort: number, serverPort: number, proc = '/proc'): number | null =>
  ownersOf(
    TABLES.flatMap((table) => lines(`${proc}/net/${table}`)),
    { localPort: clientPort, remotePort: serverPort },
  ).find(({ state }) => state === ESTABLISHED)?.uid ?? null;

/**
 * Whether another user than this one and root serves a connection on this machine: owns a listener of its port, or the
 * accepted end. False if unknown, as on other systems and behind address translation.
 */
export async function isServedByAnotherUser(
  { localPort = 0, remotePort = 0 }: Pick<Socket, 'localPort' | 'remotePort'>,
  proc = '/proc',
): Promise<boolean> {
  const owners = ownersOf(await readSoon(proc), { localPort: remotePort, remotePort: localPort });
  return owners.some(({ uid }) => isAnotherUser(uid));
}

/** Whether it is neither this user nor root. */
export const isAnotherUser = (uid: number): boolean => uid !== 0 && uid !== process.getuid?.();

let reading: Promise<unknown> = Promise.resolve();
let next: Promise<string[]> | null = null;

/**
 * The lines of the tables, read after this call. All callers that wait share one reading: it takes the system 10 ms on a
 * machine with much memory.
 */
function readSoon(proc: string): Promise<string[]> {
  next ??= reading.then(async () => {
    next = null;
    const texts = TABLES.map((table) => readFile(`${proc}/net/${table}`, 'utf8').catch(() => ''));
    reading = Promise.all(texts);
    return (await Promise.all(texts)).flatMap((text) => text.split('\n'));
  });
  return next;
}

/** The sockets at a local port that listen, or are connected to the remote port, with the users who own them. */
const ownersOf = (table: readonly string[], { localPort, remotePort }: Record<'localPort' | 'remotePort', number>) =>
  rowsOf(table).filter(
    (row) =>
      row.localPort === localPort &&
      (row.state === WAITING_STATES.tcp || (row.state === ESTABLISHED && row.remotePort === remotePort)),
  );

const TABLES = ['tcp', 'tcp6'] as const;
const ESTABLISHED = '01';

const listeningSockets = (proc = '/proc') =>
  TABLES.flatMap((table) =>
    rowsOf(lines(`${proc}/net/${table}`)).flatMap(({ inode, localPort: port, state }) =>
      state === WAITING_STATES.tcp ? [{ inode, port, isIPv6: table === 'tcp6' }] : [],
    ),
  );

const socketsOf = (pid: number, proc = '/proc'): string[] =>
  namesIn(`${proc}/${pid}/fd`).flatMap(
    (file) => /^socket:\[(\d+)\]$/.exec(link(`${proc}/${pid}/fd/${file}`))?.[1] ?? [],
  );

/**
 * All processes; their parent and session follow the state in proc_pid_stat(5), after the program's name in brackets.
 */
function readProcessTable(proc = '/proc'): { pid: number; parent: number; session: number }[] {
  return namesIn(proc).flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    const [stat = ''] = lines(`${proc}/${entry}/stat`);
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isThere = state !== undefined && state !== '' && state !== 'Z';
    return isThere ? [{ pid: Number(entry), parent: Number(parent), session: Number(session) }] : [];
  });
}

/* A process may exit or hide its files at any time; unreadable ones count as absent. */

const link = (path: string): string => orElse(() => readlinkSync(path), '');
const lines = (file: string): string[] => orElse(() => readFileSync(file, 'utf8').split('\n'), []);

export interface Listener {
  port: number;
  /** The host to reach it: `localhost`, or one address if another program has the port at the other one. */
  host: string;
  pid: number;
}

/** A process, its parent and its session; on systems that do not name sessions, its group. */
interface ProcessEntry {
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

const addressOf = (own: readonly OwnSocket[]): string => (own.some(({ isIPv6 }) => !isIPv6) ? '127.0.0.1' : '[::1]');

/** A listening socket; `pid` is 0 if the owner is unknown. */
interface OwnSocket {
  port: number;
  isIPv6: boolean;
  pid: number;
}

async function listSockets(pids: ReadonlySet<number>, platform: NodeJS.Platform): Promise<OwnSocket[]> {
  if (platform === 'linux') return linuxSockets(pids);
  if (platform === 'win32') return parseNetstat((await run('netstat', ['-ano'], OUTPUT)).stdout);
  // Exits with 1 if nothing listens.
  const lsof = await run('lsof', ['-nP', '-iTCP', '-sTCP:LISTEN', '-Fptn'], OUTPUT).catch(() => ({ stdout: '' }));
  return parseLsof(lsof.stdout);
}

function linuxSockets(pids: ReadonlySet<number>): OwnSocket[] {
  const listening = listeningSockets();
  const holders = new Map([...pids].flatMap((pid) => socketsOf(pid).map((inode) => [inode, pid] as const)));
  return listening.map(({ inode, port, isIPv6 }) => ({ port, isIPv6, pid: holders.get(inode) ?? 0 }));
}

/** The fields of `lsof -F`: `p` begins a process, `f` a file, `t` is its type, `n` the address. */
export function parseLsof(text: string): OwnSocket[] {
  const found: OwnSocket[] = [];
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
export function parseNetstat(text: string): OwnSocket[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*TCP\s+(\S+):(\d+)\s+\S+:0\s+\S+\s+(\d+)\s*$/.exec(line);
    return match === null
      ? []
      : [{ port: Number(match[2]), isIPv6: match[1]?.startsWith('[') === true, pid: Number(match[3]) }];
  });
}
