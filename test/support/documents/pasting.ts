import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { requireTool } from '../tools.ts';

/** An interactive shell on its own terminal (script(1)), without the user's configuration. */
export const SHELLS = {
  bash: { command: 'bash --noprofile --norc -i', bracketed: true },
  zsh: { command: 'zsh -f -i', bracketed: true },
  fish: { command: `fish --no-config -i -C 'function fish_prompt; printf "ready> "; end'`, bracketed: true },
  // The shell does not ask the terminal for bracketed paste.
  dash: { command: 'dash -i', bracketed: false },
} as const;

export type ShellName = keyof typeof SHELLS;

export interface Terminal {
  /** Types a text as terminals paste it, followed by Enter, and resolves at the next prompt. */
  paste(text: string): Promise<void>;
  /** Hangs up, which ends the shell. */
  end(): Promise<void>;
}

export interface TerminalOptions {
  /** Whether the shell distinguishes pasted from typed text (xterm control sequences, bracketed paste mode). */
  bracketed: boolean;
  folder: string;
  env: Record<string, string>;
}

export async function openTerminal(name: ShellName, { bracketed, folder, env }: TerminalOptions): Promise<Terminal> {
  requireTool(name);
  const child = spawn(requireTool('script'), ['-q', '-c', `exec ${SHELLS[name].command}`, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, TERM: 'xterm', LANG: 'C.UTF-8', PS1: 'ready> ', ...env },
  });
  const exited = once(child, 'exit');
  let shown = '';
  let number = 0;
  let waiting: { text: string; resolve: () => void } | null = null;
  const look = () => {
    if (waiting === null || !shown.includes(waiting.text)) return;
    waiting.resolve();
    waiting = null;
  };
  const until = (text: string) =>
    new Promise<void>((resolve, reject) => {
      waiting = { text, resolve };
      void exited.then(() => reject(new Error(`${name} ended:\n${shown}`)));
      look();
    });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    look();
  });
  child.stdin.on('error', () => undefined);
  await until('ready> ');
  return {
    async paste(text) {
      const typed = text.replaceAll('\n', '\r');
      child.stdin.write(bracketed ? `\u001b[200~${typed}\u001b[201~\r` : `${typed}\r`);
      // Only the output that was not typed; the terminal echoes what was.
      child.stdin.write(`printf 'end-%s-%s.' of ${++number}\r`);
      await until(`end-of-${number}.`);
    },
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
