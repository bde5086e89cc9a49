import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { sleep } from '../../base/clock.ts';
import { descendants, listListeners, listProcesses, type Listener } from '../../base/system/port-holder.ts';
import { shellWord } from '../../base/text/shell.ts';
import type { Io } from '../text/io.ts';

const STDERR = 2;

/** How long processes that a command leaves behind may take to end by themselves. */
const LEFT_MS_MAX = 2_000;
const LOOK_MS = 50;

/**
 * The command replaces this shell, which first starts a watcher in the same process group. File descriptor 3 is a
 * pipe from Vivarium: it closes when Vivarium ends, also by `kill -9`, and the watcher then kills the group.
 */
const WITH_WATCHER =
  '( (trap "" HUP INT QUIT TERM; read -r _; kill -9 0) <&3 >/dev/null 2>&1 & echo $! >&3 ); exec "$@" 3<&-';

/** A command with the terminal of this process, in a separate process group. */
export type AppProcess = Awaited<ReturnType<typeof startApp>>;

/**
 * @param toStderr for a command beside others: it reads nothing, and all that it prints goes to standard error
 * @param onOutput for one whose output is read: receives all that it prints
 * @throws Error when it cannot be started.
 */
export async function startApp(
  command: readonly string[],
  env: Record<string, string | undefined>,
  io: Pick<Io, 'platform' | 'workingDir'> & { toStderr?: boolean; onOutput?: (chunk: Buffer) => void },
) {
  const { platform, workingDir, toStderr = false, onOutput } = io;
  const isWindows = platform === 'win32';
  const options = { cwd: workingDir, env } as const;
  const out = onOutput !== undefined ? 'pipe' : toStderr ? STDERR : 'inherit';
  const terminal = [out === 'inherit' ? out : 'ignore', out, out] as const;
  const child = isWindows
    ? spawn(command.map((word) => shellWord(word, platform)).join(' '), {
        ...options,
        shell: true,
        stdio: [...terminal],
      })
    : spawn('/bin/sh', ['-c', WITH_WATCHER, 'sh', ...command], {
        ...options,
        // A separate session, and so a process group.
        detached: true,
        stdio: [...terminal, 'pipe'],
      });
  const exited = exitCodeOf(child);
  const outputs = onOutput === undefined ? [] : [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of outputs) stream.on('data', (chunk: Buffer) => onOutput?.(chunk)).on('error', () => undefined);
  const printed = Promise.all(outputs.map((stream) => stream.closed || once(stream, 'close')));
  const pid = await pidOf(child);
  const watcher = isWindows ? watchOnWindows(child) : watcherOf(child);
  let watcherPid = 0;
  void watcher.then((found) => (watcherPid = found));

  const members = async (): Promise<Set<number>> => {
    const found = descendants(pid, await listProcesses(platform));
    found.delete(await watcher);
    if (child.exitCode !== null || child.signalCode !== null) found.delete(pid);
    return found;
  };

  function signalGroup(name: NodeJS.Signals): void {
    try {
      // The Windows console signals all of its programs itself.
      if (!isWindows) process.kill(-pid, name);
      // The watcher must not sleep with the others.
      if (name === 'SIGSTOP' && watcherPid !== 0) process.kill(watcherPid, 'SIGCONT');
    } catch {
      // It has ended.
    }
  }

  async function signalMembers(name: NodeJS.Signals): Promise<void> {
    for (const member of await members()) {
      try {
        process.kill(member, name);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  return {
    /** The exit code as a shell reports it. */
    exited,
    /** The ports that it and its descendants listen on. */
    listeners: async (): Promise<Listener[]> => listListeners(await members(), platform),
    /** Sends a signal to the whole group. */
    signal: signalGroup,
    /** Suspends the command while `work` reads the terminal. */
    async whileHeld<Result>(work: () => Promise<Result>): Promise<Result> {
      if (isWindows) return work();
      await signalMembers('SIGSTOP');
      try {
        return await work();
      } finally {
        await signalMembers('SIGCONT');
      }
    },
    /** Ends its remaining processes. */
    async end(): Promise<void> {
      if ((await members()).size > 0) await signalMembers('SIGTERM');
      for (let waitedMs = 0; waitedMs < LEFT_MS_MAX && (await members()).size > 0; waitedMs += LOOK_MS) {
        await sleep(LOOK_MS);
      }
      await signalMembers('SIGKILL');
      signalGroup('SIGKILL');
      await exited;
      // A process that has left the group may hold a pipe open.
      if (outputs.length > 0) await Promise.race([printed, sleep(LEFT_MS_MAX)]);
    },
  };
}

function pidOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}

function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

/** The watcher's process: the only line that the shell writes to the pipe; 0 where it wrote none. */
function watcherOf({ stdio: [, , , pipe] }: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    pipe?.on('error', () => resolve(0));
    pipe?.on('data', (line: Buffer) => resolve(Number(line.toString())));
    pipe?.on('end', () => resolve(0));
  });
}

/**
 * The same without process groups, by the system's shell: the installed app has no Node. `set /p` ends with a line or
 * with this process, and a line says that the command has ended: its id may be that of another process by then.
 */
function watchOnWindows(app: ChildProcess): Promise<number> {
  const kill = `taskkill /pid ${app.pid} /t /f`;
  const watcher = spawn(`set /p vivarium_ended= & if not defined vivarium_ended ${kill}`, {
    shell: 'cmd.exe',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    windowsHide: true,
  });
  // Without it, the command goes on as it would without a watcher.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  app.once('exit', () => watcher.stdin.end('ended\r\n'));
  watcher.unref();
  return Promise.resolve(watcher.pid ?? 0);
}
