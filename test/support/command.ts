import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program to its end. @throws Error with its output if it fails */
export const execute = promisify(execFile);

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Both, in the order of arrival. */
  text: string;
}

/** Runs a program to its end, without a shell, with `input` on its standard input. */
export function run(command: string, args: readonly string[], input = ''): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const result = { stdout: '', stderr: '', text: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        result[name] += chunk.toString();
        result.text += chunk.toString();
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...result }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** `curl` with full output of the response: status line and fields, then the body. */
export const curl = (...args: string[]): Promise<CommandResult> =>
  run('curl', ['--silent', '--show-error', '--include', '--max-time', '10', '--noproxy', '*', ...args]);
