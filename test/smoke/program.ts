import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeFile } from '../../main/base/config.ts';
import { sleep } from '../../main/base/clock.ts';
import { callAt } from '../support/rpc/rpc-call.ts';
import { until } from './page.ts';
import { environment, type Subject } from './subject.ts';

export interface Output {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface End {
  code: number | null;
  signal: string | null;
}

export interface StartedApp {
  child: ChildProcess;
  /** The address where it serves, once it does. @throws Error if it ends instead */
  serves(): Promise<RuntimeFile>;
  /** How it has ended, or null after this time. */
  endWithin(ms: number): Promise<End | null>;
}

const COMMAND_MS_MAX = 60_000;
const START_MS_MAX = 60_000;
export const FREE_PORTS = ['--http-port', '0', '--https-port', '0', '--dns-port', '0', '--control-port', '0'];

/** The app and the command line on one data folder. */
export class Program {
  /** The output of the app. */
  printed = '';
  readonly dataDir: string;
  readonly subject: Subject;

  constructor(subject: Subject, dataDir: string) {
    this.subject = subject;
    this.dataDir = dataDir;
  }

  /** Runs `vivarium` with these arguments. */
  cli(...words: string[]): Output {
    return this.cliReading('', ...words);
  }

  /** The same with a standard input. */
  cliReading(input: string, ...words: string[]): Output {
    const [program, ...args] = [...this.subject.cli, ...words];
    // A batch file needs a shell, which splits arguments at spaces.
    const shell = process.platform === 'win32' && program.endsWith('.cmd');
    const given = shell ? [program, ...args].map((word) => `"${word}"`) : [program, ...args];
    const [first = '', ...rest] = given;
    const { status, stdout, stderr, error } = spawnSync(first, rest, {
      encoding: 'utf8',
      input,
      timeout: COMMAND_MS_MAX,
      env: environment(),
      shell,
    });
    if (error !== undefined) throw error;
    return { status, stdout, stderr };
  }

  start(): StartedApp {
    const [program, ...args] = this.subject.app;
    // Chromium reads switches before `--`; the fuses do not forbid this one.
    const words = ['--remote-debugging-port=0', ...args, '--', '--data-dir', this.dataDir, ...FREE_PORTS];
    const child = spawn(program, words, { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.printed += chunk.toString()));
    }
    const ended = new Promise<End>((resolve) => {
      child.once('error', ({ message }) => resolve({ code: null, signal: message }));
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    let known: End | null = null;
    void ended.then((end) => (known = end));
    const whyNot = () => (known === null ? null : `the app has ended: ${JSON.stringify(known)}`);
    return {
      child,
      serves: () => until('runtime.json', () => this.runtime(), { waitMs: START_MS_MAX, whyNot }),
      endWithin(ms) {
        const waiting = new AbortController();
        const over = sleep(ms, waiting.signal).then(() => null);
        return Promise.race([ended, over]).finally(() => waiting.abort());
      },
    };
  }

  /** The address where the app serves; null while it does not. */
  runtime(): RuntimeFile | null {
    const file = join(this.dataDir, 'runtime.json');
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RuntimeFile) : null;
  }

  /** The same for an app that serves. @throws Error if it does not */
  serving(): RuntimeFile {
    const runtime = this.runtime();
    if (runtime === null) throw new Error('the app does not serve');
    return runtime;
  }

  async call<Procedure extends string>(procedure: Procedure, input: object = {}) {
    return await callAt(this.serving().control, procedure, input);
  }

  /** The address of Chromium's debugger in the running app. */
  debuggerPort(): string {
    const [port = ''] = readFileSync(join(this.dataDir, 'desktop', 'DevToolsActivePort'), 'utf8').split('\n');
    return port;
  }
}
