/**
 * The command `vivarium`: connects the process's streams, environment and signals to the command line; `start` loads
 * the engine.
 */
import { statSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EXIT_FAILED, type Io, endWithReader } from './cli/text/io.ts';
import { isNodeNewEnough, NODE_WANTED, pinnedNode, PROGRAM_FLAGS } from './cli/node-version.mjs';
import { run } from './cli/run.ts';

/**
 * V8's code cache saves an eighth of a command's time and a sixth of a start's; an old Node has none. Each build clears
 * it, and could not clear the files of another user, such as root's.
 */
const folder = import.meta.dirname;
if (statSync(folder).uid === (process.getuid?.() ?? 0)) module.enableCompileCache?.(join(folder, '.compiled'));

/** Commands that only ask the engine also run on an older Node; the engine does not. */
const engineNode = isNodeNewEnough() ? process.execPath : pinnedNode(join(folder, '..', '..'));

// NO_COLOR takes precedence (`main/base/text/terminal.ts`); Node would warn on standard error that it prefers FORCE_COLOR.
if ((process.env['NO_COLOR'] ?? '') !== '') delete process.env['FORCE_COLOR'];

/** A closed terminal (SIGHUP) stops Vivarium as cleanly as Ctrl-C. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const io: Io = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  platform: process.platform,
  homeDir: homedir(),
  workingDir: process.cwd(),
  onStopSignal(callback) {
    for (const signal of STOP_SIGNALS) process.on(signal, callback);
    return () => {
      for (const signal of STOP_SIGNALS) process.off(signal, callback);
    };
  },
};

let isServing = false;

endWithReader(() => isServing);

process.exitCode = await run(process.argv.slice(2), io, {
  self: [engineNode, ...new Set([...process.execArgv, ...PROGRAM_FLAGS]), import.meta.filename],
  async loadEngine() {
    if (!isNodeNewEnough()) {
      process.stderr.write(`${NODE_WANTED}\n`);
      process.exit(EXIT_FAILED);
    }
    isServing = true;
    return (await import('./headless.ts')).serve;
  },
});
