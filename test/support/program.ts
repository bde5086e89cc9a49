import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeFile } from '../../main/base/config.ts';
import { PROGRAM_FLAGS } from '../../main/cli/node-version.mjs';
import { callAt } from './rpc/rpc-call.ts';
import { type Engine, track } from './engine.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The built program, as shipped. `npm test` builds it first. */
export const PROGRAM = join(ROOT, 'out', 'main', 'vivarium.js');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export type RunningProgram = Awaited<ReturnType<typeof startProgram>>;

export const FREE_PORTS = ['--http-port', '0', '--https-port', '0', '--dns-port', '0', '--control-port', '0'];

/** What a process prints, and how it ends. */
export function follow(child: ChildProcess) {
  const printed: Ended = { code: null, signal: null, stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()));
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve(Object.assign(printed, { code, signal })));
  });
  return { printed, ended };
}

function launch(
  args: readonly string[],
  env: Record<string, string> = {},
  program = PROGRAM,
  within: readonly string[] = [],
) {
  if (!existsSync(program)) throw new Error('The program is not built; run npm run build.');
  const [command = '', ...rest] = [...within, process.execPath, ...PROGRAM_FLAGS, program, ...args];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
  });
  const { printed, ended } = follow(child);
  track(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  return { child, printed, ended };
}

export function runProgram(
  args: readonly string[],
  env?: Record<string, string>,
  within?: readonly string[],
): Promise<Ended> {
  return launch(args, env, PROGRAM, within).ended;
}

/** Starts `vivarium serve` on free ports; resolves when it serves. @throws Error with its output if it ends instead. */
export async function startProgram(
  args: readonly string[] = [],
  options: {
    dataDir?: string;
    env?: Record<string, string>;
    program?: string;
    /** A command that runs it elsewhere. */
    within?: readonly string[];
  } = {},
) {
  const dataDir = options.dataDir ?? join(temporaryFolder(), 'data');
  const { child, printed, ended } = launch(
    ['serve', '--data-dir', dataDir, ...FREE_PORTS, ...args],
    options.env,
    options.program,
    options.within,
  );
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => {
      if (printed.stdout.includes('Stop with Ctrl-C')) resolve();
    });
    void ended.then((end) => reject(new Error(`serve ended with ${end.code}: ${end.stderr}${end.stdout}`)));
  });
  const runtime = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  return {
    child,
    dataDir,
    runtime,
    call: ((procedure, input) => callAt(runtime.control, procedure, input)) as Engine['call'],
    /** Its output so far. */
    output: (): Ended => printed,
    /** Sends a signal and waits for the end. */
    end(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}
