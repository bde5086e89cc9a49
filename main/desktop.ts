/**
 * Electron's entry: the desktop app, or a command from the launcher `vivarium`. Loads the engine and the commands on
 * demand; only code that must run before Electron's `ready` is imported statically.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { defaultDataDir } from './base/system/data-dir.ts';
import { findAssets, findProgramFile } from './base/system/program.ts';
import { readLogLevel } from './base/log.ts';
import type { Config } from './base/config.ts';
import type { Io } from './cli/text/io.ts';
import { NotRunningError, findRunning } from './cli/engine/running.ts';
import { readServeConfig } from './cli/engine/serve-options.ts';
import { type OwnArguments, readOwnArguments } from './electron/rules.ts';
import { type EngineStart, keepHeapSmall } from './host/supervise.ts';
import { type DesktopServices, runDesktop } from './electron/desktop.ts';
import { failBeforeStart, type OnStopSignal, runCommandLine } from './electron/ending.ts';
import { openTemporaryFolder } from './base/system/temporary-folder.ts';

const place: Pick<Io, 'env' | 'platform' | 'homeDir' | 'workingDir'> = {
  env: process.env,
  platform: process.platform,
  homeDir: homedir(),
  workingDir: process.cwd(),
};

async function runCommand(words: readonly string[], onStopSignal: OnStopSignal): Promise<number> {
  const [{ run }, { endWithReader }] = await Promise.all([import('./cli/run.ts'), import('./cli/text/io.ts')]);
  let isServing = false;
  endWithReader(() => isServing);
  const { stdout, stderr, platform } = process;
  // On Windows, Electron's is always at its end (its lib/common/init.ts).
  const io: Io = { ...place, stdout, stderr, stdin: platform === 'win32' ? null : process.stdin, onStopSignal };
  return run(words, io, {
    self: [process.execPath, ...process.argv.slice(1, process.argv.length - words.length)],
    loadEngine: async () => {
      isServing = true;
      return (await import('./headless.ts')).serve;
    },
  });
}

async function openApp({ mode, page, words }: OwnArguments): Promise<void> {
  keepHeapSmall();
  // The app has its own window, so --open does nothing.
  const { open: _, ...chosen } = readServeConfig(words, place);
  const { ephemeral } = chosen;
  const temporaryDir = ephemeral || chosen.dataDir === null ? openTemporaryFolder() : null;
  const config: Config = { ...chosen, dataDir: chosen.dataDir ?? (temporaryDir as string) };
  const logLevel = readLogLevel(process.env, 'info');

  async function start({ config: startConfig, notes, onFault }: EngineStart, desktopServices: DesktopServices) {
    const [{ startApp }, { formatBanner }] = await Promise.all([import('./app.ts'), import('./headless.ts')]);
    const app = await startApp({
      config: startConfig,
      stateDir: temporaryDir ?? config.dataDir,
      resourcesDir: findProgramFile('resources'),
      assetsDir: findAssets(),
      logLevel,
      notes,
      onFault,
      ...desktopServices,
    });
    // On terminals only: the token must not end up in a session's journal.
    if (process.stdout.isTTY) process.stdout.write(await formatBanner(app, process));
    return app;
  }
  await runDesktop({
    config,
    logLevel,
    isHidden: mode === 'hidden',
    page,
    // Starting at login uses the default data folder only.
    isUsual: config.dataDir === defaultDataDir(place),
    homepage: (JSON.parse(readFileSync(findProgramFile('package.json'), 'utf8')) as { homepage?: unknown }).homepage,
    assetsDir: findProgramFile('out', 'renderer'),
    preloadFile: findProgramFile('out', 'preload', 'preload.cjs'),
    iconsDir: findProgramFile('resources', 'icons'),
    start,
    findRunning: () => runningOn(config.dataDir),
    prepareRemoval: () => prepareRemoval(config.dataDir),
  });
}

/** Runs `vivarium uninstall`; returns what it prints. */
async function prepareRemoval(dataDir: string): Promise<string> {
  const { UNINSTALL } = await import('./cli/uninstall.ts');
  let printed = '';
  const collected = { write: (content: string | Uint8Array) => (printed += content.toString()) };
  const onStopSignal = () => () => undefined;
  const io: Io = { ...place, stdout: collected, stderr: collected, stdin: null, onStopSignal };
  await UNINSTALL.run(['--data-dir', dataDir], io);
  return printed;
}

function runningOn(dataDir: string) {
  try {
    return findRunning(dataDir);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw error;
  }
}

const own = readOwnArguments(process.argv);
if (own.mode === 'command-line') void runCommandLine((onStopSignal) => runCommand(own.words, onStopSignal));
else openApp(own).catch(failBeforeStart);
