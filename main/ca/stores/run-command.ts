import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';
import { unavailable } from '../../contract/errors.ts';
import { shellWord } from '../../base/text/shell.ts';

/** A hundred times the duration of `certutil` on a slow disk. */
const COMMAND_MS_MAX = 15_000;

/** Time for the user to read and answer a dialogue. */
const COMMAND_ASKS_MS_MAX = 120_000;

/** A keychain of a thousand certificates takes 2 MB as PEM. */
const OUTPUT_BYTES_MAX = 8 * 1_048_576;

const HAS_GROUPS = process.platform !== 'win32';

/** Runs commands without a shell or standard input and, except on Windows, without a controlling terminal. */
export function createRunCommand(options: {
  clock: Pick<Clock, 'realTimer'>;
  environment: NodeJS.ProcessEnv;
}): RunCommand {
  const { clock, environment } = options;
  return (command) =>
    new Promise((resolve, reject) => {
      // A separate session: it cannot prompt on Vivarium's terminal, and its process group can be killed.
      const child = spawn(command.command, [...command.args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: HAS_GROUPS,
        windowsHide: true,
        env: { ...environment, LC_ALL: 'C' },
      });
      const limitMs = command.asks === true ? COMMAND_ASKS_MS_MAX : COMMAND_MS_MAX;
      const timer = clock.realTimer(limitMs, () => fail(`took longer than ${limitMs / 1000} seconds`));
      const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
      let bytes = 0;
      const collect = (name: keyof typeof output) => (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > OUTPUT_BYTES_MAX) fail(`printed more than ${OUTPUT_BYTES_MAX} bytes`);
        else output[name].push(chunk);
      };
      child.stdout.on('data', collect('stdout'));
      child.stderr.on('data', collect('stderr'));
      child.on('error', (error) => fail(`could not be run (${error.message})`, error));
      child.on('close', (exitCode) => {
        timer.cancel();
        resolve({ exitCode, stdout: text(output.stdout), stderr: text(output.stderr) } satisfies CommandResult);
      });

      function fail(what: string, cause?: unknown): void {
        timer.cancel();
        end(child);
        reject(unavailable(`${nameOf(command)} ${what}.`, { cause }));
      }
    });
}

const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');
const nameOf = ({ command, explains }: Command): string => `The command ${command}, which ${explains},`;

function end(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (HAS_GROUPS) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has already exited.
  }
}

/** A command as data, which can be run, displayed, and tested on other systems. */
export interface Command {
  /** A name to look up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Whether it asks for a password; Vivarium displays such a command but does not run it. */
  readonly needsPassword: boolean;
  /** Its effect, as a clause: "adds the root". */
  readonly explains: string;
  /** Whether the system shows a dialogue, which may take minutes. */
  readonly asks?: boolean;
}

/** A command that needs no password and shows no dialogue, unless `more` says so. */
export const command = (
  program: string,
  args: readonly string[],
  explains: string,
  more: Partial<Pick<Command, 'needsPassword' | 'asks'>> = {},
): Command => ({ command: program, args, needsPassword: false, explains, ...more });

/** A handshake by the system's own curl, which uses the system's trust. */
export const curlHandshake = (
  curl: string,
  nowhere: string,
  { hostname, port }: { hostname: string; port: number },
): Command =>
  command(
    curl,
    ['--silent', '--show-error', '--head', '--output', nowhere, `https://${hostname}:${port}/`],
    'performs a handshake',
  );

export interface CommandResult {
  /** Null when a signal ended it. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** @throws VivariumError unavailable when the command cannot be started, times out, or prints too much. */
export type RunCommand = (command: Command) => Promise<CommandResult>;

/** Commands as one line to paste into a shell: bash or zsh; PowerShell on Windows. */
export function pasteable(commands: readonly Pick<Command, 'command' | 'args'>[], platform: NodeJS.Platform): string {
  const windows = platform === 'win32';
  const lines = commands.map(({ command, args }) => {
    const words = [command, ...args].map((word) => shellWord(word, platform)).join(' ');
    // PowerShell evaluates a quoted first word as a string, not a command.
    return windows && /^["'(]/.test(words) ? `& ${words}` : words;
  });
  // PowerShell 5 has no &&.
  return lines.join(windows ? '; ' : ' && ');
}
