import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

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
  for (const pid of new Set([String(process.pid), ...entries(proc)])) {
    if (!/^\d+$/.test(pid) || Number(pid) === besides) continue;
    const files = entries(`${proc}/${pid}/fd`);
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
export function listeningInodes(table: readonly string[], port: number, transport: Transport = 'tcp'): string[] {
  const suffix = portSuffix(port);
  return table.flatMap((line) => {
    const [, local = '', , state = '', , , , , , inode = '0'] = line.trim().split(/\s+/);
    return local.endsWith(suffix) && state === WAITING_STATES[transport] && inode !== '0' ? [inode] : [];
  });
}

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

/** The users who own the sockets at a local port that listen, or are connected to the remote port. */
function ownersOf(rows: readonly string[], { localPort, remotePort }: Record<'localPort' | 'remotePort', number>) {
  const [here, there] = [portSuffix(localPort), portSuffix(remotePort)];
  return rows.flatMap((line) => {
    const [, local = '', remote = '', state = '', , , , uid = ''] = line.trim().split(/\s+/);
    const isIt = state === WAITING_STATES.tcp || (state === ESTABLISHED && remote.endsWith(there));
    return isIt && local.endsWith(here) && /^\d+$/.test(uid) ? [{ state, uid: Number(uid) }] : [];
  });
}

const TABLES = ['tcp', 'tcp6'] as const;
const ESTABLISHED = '01';

export function listeningSockets(proc = '/proc'): { inode: string; port: number; isIPv6: boolean }[] {
  return (['tcp', 'tcp6'] as const).flatMap((table) =>
    lines(`${proc}/net/${table}`).flatMap((line) => {
      const [, local = '', , state = '', , , , , , inode = '0'] = line.trim().split(/\s+/);
      const port = parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
      return state === WAITING_STATES.tcp ? [{ inode, port, isIPv6: table === 'tcp6' }] : [];
    }),
  );
}

export const socketsOf = (pid: number, proc = '/proc'): string[] =>
  entries(`${proc}/${pid}/fd`).flatMap(
    (file) => /^socket:\[(\d+)\]$/.exec(link(`${proc}/${pid}/fd/${file}`))?.[1] ?? [],
  );

/**
 * All processes; their parent and session follow the state in proc_pid_stat(5), after the program's name in brackets.
 */
export function readProcessTable(proc = '/proc'): { pid: number; parent: number; session: number }[] {
  return entries(proc).flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    const [stat = ''] = lines(`${proc}/${entry}/stat`);
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isThere = state !== undefined && state !== '' && state !== 'Z';
    return isThere ? [{ pid: Number(entry), parent: Number(parent), session: Number(session) }] : [];
  });
}

/** `:1F90`, the form of ports in these tables. */
const portSuffix = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;

/* A process may exit or hide its files at any time; unreadable ones count as absent. */

const entries = (directory: string): string[] => orElse(() => readdirSync(directory), []);
const link = (path: string): string => orElse(() => readlinkSync(path), '');
const lines = (file: string): string[] => orElse(() => readFileSync(file, 'utf8').split('\n'), []);

function orElse<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
