import { homedir } from 'node:os';
import type { Host } from '../../main/cli/command.ts';
import type { Io } from '../../main/cli/io.ts';
import { run } from '../../main/cli/run.ts';
import type { Finished } from './rpc-cli.ts';

const HOST: Host = {
  self: ['false'],
  loadEngine: () => Promise.reject(new Error('This test starts no engine.')),
};

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
  stdin?: string;
  cwd?: string;
}

export function commandHere(options: CommandHereOptions = {}): CommandHere {
  const { env = {}, isTTY = false, stdin = '', cwd = process.cwd() } = options;
  const printed: Finished = { code: null, stdout: '', stderr: '' };
  const listeners = new Set<(signal: string) => void>();
  const into = (name: 'stdout' | 'stderr') => ({
    isTTY,
    write: (content: string | Uint8Array) => void (printed[name] += Buffer.from(content).toString()),
  });
  const io: Io = {
    stdout: into('stdout'),
    stderr: into('stderr'),
    stdin: (async function* () {
      if (stdin !== '') yield stdin;
    })(),
    env: { VIVARIUM_COMMAND: 'vivarium', ...env },
    platform: 'linux',
    homeDir: homedir(),
    workingDir: cwd,
    onStopSignal(callback) {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
  };
  return { io, printed, interrupt: () => listeners.forEach((callback) => callback('SIGINT')) };
}

/** Runs a command to its end in this process, without starting an engine. */
export async function runHere(args: readonly string[], options?: CommandHereOptions): Promise<Finished> {
  const { io, printed } = commandHere(options);
  printed.code = await run(args, io, HOST);
  return printed;
}
