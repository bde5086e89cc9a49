import { homedir } from 'node:os';
import { PassThrough, Writable } from 'node:stream';
import type { Host } from '../../main/cli/words/command.ts';
import type { Io } from '../../main/cli/text/io.ts';
import { run } from '../../main/cli/run.ts';
import type { Finished } from './rpc/rpc-cli.ts';

const HOST: Host = { self: ['false'], loadEngine: () => Promise.reject(new Error('This test starts no engine.')) };

/** A command in this process, with its output as text. */
export interface CommandHere {
  io: Io;
  printed: Finished;
  /** The reaction to a stop signal. */
  interrupt(): void;
}

export interface CommandHereOptions {
  env?: Io['env'];
  isTTY?: boolean;
  /** The width of the terminal; 0 if it reports none. */
  columns?: number;
  stdin?: string;
  /** What a person types; input and output are then a terminal. */
  typed?: string;
  cwd?: string;
  homeDir?: string;
  /** For commands that start an engine; by default they fail. */
  loadEngine?: Host['loadEngine'];
}

export function commandHere(options: CommandHereOptions = {}): CommandHere {
  const {
    env = {},
    typed,
    isTTY = typed !== undefined,
    columns,
    stdin = '',
    cwd = process.cwd(),
    homeDir = homedir(),
  } = options;
  const printed: Finished = { code: null, stdout: '', stderr: '' };
  const listeners = new Set<(signal: string) => void>();
  const into = (name: 'stdout' | 'stderr') => ({
    isTTY,
    ...(columns !== undefined && { columns }),
    write: (content: string | Uint8Array) => void (printed[name] += Buffer.from(content).toString()),
  });
  const io: Io = {
    stdout: into('stdout'),
    stderr: typed === undefined ? into('stderr') : asStream(into('stderr')),
    stdin:
      typed === undefined
        ? (async function* () {
            if (stdin !== '') yield stdin;
          })()
        : keyboard(typed),
    env: { VIVARIUM_COMMAND: 'vivarium', ...env },
    platform: 'linux',
    homeDir,
    workingDir: cwd,
    onStopSignal(callback) {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
  };
  return { io, printed, interrupt: () => listeners.forEach((callback) => callback('SIGINT')) };
}

/** Questions are written to a stream. */
const asStream = ({ write }: Io['stderr']): Io['stderr'] =>
  new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      write(chunk);
      done();
    },
  });

function keyboard(typed: string): Io['stdin'] {
  const keys = new PassThrough();
  keys.end(typed);
  return Object.assign(keys, { isTTY: true });
}

/** Runs a command to its end in this process. */
export async function runHere(args: readonly string[], options?: CommandHereOptions): Promise<Finished> {
  const { io, printed } = commandHere(options);
  printed.code = await run(args, io, { ...HOST, ...(options?.loadEngine && { loadEngine: options.loadEngine }) });
  return printed;
}
