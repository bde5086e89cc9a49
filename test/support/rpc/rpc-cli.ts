import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { PROGRAM } from '../program.ts';
import { type CommandHereOptions, runHere } from '../cli-io.ts';
import { CONTROL_TOKEN, startControl } from './rpc-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * The built command line, which starts four times as fast as its sources, in a separate process; ended after the test.
 */
export function startCli(args: readonly string[], env: Record<string, string> = {}, cwd?: string) {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const own = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, VIVARIUM_COMMAND: 'vivarium' };
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env: { ...own, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Runs it to its end, with `stdin` as input. */
export async function runCli(
  args: readonly string[],
  { env, stdin = '', cwd }: { env?: Record<string, string>; stdin?: string; cwd?: string } = {},
): Promise<Finished> {
  const child = startCli(args, env, cwd);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  return finished(child);
}

export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

/** A control server with fake services, the data folder in which the command line finds it, and commands on that. */
export async function startFakeEngine() {
  const control = await startControl();
  const dataDir = temporaryFolder();
  writeRuntime(dataDir, { url: control.url });
  const on = (args: readonly string[]) => [...args, '--data-dir', dataDir];
  return {
    ...control,
    dataDir,
    /** In this process, as built, and as built without waiting for its end. */
    here: (args: readonly string[], options?: CommandHereOptions) => runHere(on(args), options),
    cli: (args: readonly string[], options?: Parameters<typeof runCli>[1]) => runCli(on(args), options),
    start: (args: readonly string[], env?: Record<string, string>) => startCli(on(args), env),
  };
}

/** `test` with such a control server for each, and its parts. */
export const fakeEngineTest = test
  .extend('engine', () => startFakeEngine())
  .extend('server', ({ engine }) => engine.server)
  .extend('url', ({ engine }) => engine.url)
  .extend('fake', ({ engine }) => engine.fake)
  .extend('dataDir', ({ engine }) => engine.dataDir)
  .extend('here', ({ engine }) => engine.here)
  .extend('cli', ({ engine }) => engine.cli)
  .extend('start', ({ engine }) => engine.start);

export function writeRuntime(
  dataDir: string,
  runtime: { url: string; token?: string; pid?: number; dataDir?: string },
): void {
  const { url, token = CONTROL_TOKEN, pid = process.pid, dataDir: own } = runtime;
  writeFileSync(
    join(dataDir, 'runtime.json'),
    JSON.stringify({ pid, dataDir: own, version: '1.2.3', control: { url, token } }),
  );
}
