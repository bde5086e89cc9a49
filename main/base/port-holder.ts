import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The process that listens on a port. */
export interface PortHolder {
  pid: number;
  name: string;
}

/** The states of /proc/net/tcp and udp in which a socket waits for anybody: LISTEN; of UDP, not connected. */
const WAITING_STATES = { tcp: '0A', udp: '07' } as const;
export type Transport = keyof typeof WAITING_STATES;

/**
 * Who keeps this process from a port: ` by <name> (pid <n>)`, or nothing where that cannot be known: other systems, and
 * other users' processes. This process comes last: it may have the port at another address already.
 */
export function describePortHolder(port: number, transport: Transport): string {
  const holder = findPortHolder(port, { transport, besides: process.pid }) ?? findPortHolder(port, { transport });
  return holder === null ? '' : ` by ${holder.name} (pid ${holder.pid})`;
}

/** Looks through Linux's /proc, without starting a program, at all processes `besides` one. Null when nothing is found or may be seen. */
export function findPortHolder(
  port: number,
  { proc = '/proc', transport = 'tcp', besides }: { proc?: string; transport?: Transport; besides?: number } = {},
): PortHolder | null {
  const tables = [transport, `${transport}6`].map((table) => lines(`${proc}/net/${table}`));
  const inodes = new Set(tables.flatMap((table) => listeningInodes(table, port, transport)));
  if (inodes.size === 0) return null;
  const sockets = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  // Whoever asks is looked at first: a machine with many processes takes a while.
  for (const pid of new Set([String(process.pid), ...entries(proc)])) {
    if (!/^\d+$/.test(pid) || Number(pid) === besides) continue;
    const files = entries(`${proc}/${pid}/fd`);
    if (files.some((file) => sockets.has(link(`${proc}/${pid}/fd/${file}`)))) {
      return { pid: Number(pid), name: programName(lines(`${proc}/${pid}/cmdline`)[0] ?? '') };
    }
  }
  return null;
}

/** The first word of a command line without its folder. `comm` would be the name of a thread: Node calls its own `MainThread`. */
function programName(commandLine: string): string {
  const [program = ''] = commandLine.split('\0');
  return program.slice(program.lastIndexOf('/') + 1) || 'a process';
}

/** The inodes of the sockets that listen on `port`, from the lines of one of the tables (proc(5), /proc/net/tcp). */
export function listeningInodes(table: readonly string[], port: number, transport: Transport = 'tcp'): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.flatMap((line) => {
    const [, local = '', , state = '', , , , , , inode = '0'] = line.trim().split(/\s+/);
    return local.endsWith(suffix) && state === WAITING_STATES[transport] && inode !== '0' ? [inode] : [];
  });
}

/* A process may end, or hide its files, at any moment; what cannot be read is nothing. */

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
