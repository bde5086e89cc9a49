import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type App, startApp } from './app.ts';
import { realTime } from './base/clock.ts';
import { type Config, DETACHED_VARIABLE, type RuntimeFile } from './base/config.ts';
import { LOGS_FOLDER } from './base/system/data-folder.ts';
import { openInBrowser } from './base/system/open-in-browser.ts';
import { findAssets, findProgramFile } from './base/system/program.ts';
import { createLog, formatLogLine, type LogLine, readLogLevel, openLogFile } from './base/log.ts';
import { openTemporaryFolder } from './base/system/temporary-folder.ts';
import { wantsColour } from './base/text/terminal.ts';
import { VivariumError } from './contract/errors.ts';
import { keepHeapSmall, superviseEngine } from './host/supervise.ts';
import { formatWelcome } from './host/welcome.ts';

/** The process's streams, environment and signals; replaced in tests. */
export interface HeadlessIo {
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown };
  env: Readonly<Record<string, string | undefined>>;
  /** Calls back on a stop signal; returns a function that stops listening. */
  onStopSignal(callback: (signal: string) => void): () => void;
}

/** Without a data folder, Vivarium is ephemeral and uses a temporary folder, where scripts find `runtime.json`. */
export type HeadlessConfig = Omit<Config, 'dataDir'> & {
  dataDir: string | null;
  /** Whether to open the interface in the default browser. */
  open: boolean;
};

/**
 * Serves until a stop signal, then drains. Resolves with the exit code: 0 after a stop, or 1 if Vivarium could not
 * start; one line on standard error then says why.
 */
export async function serve({ open, ...config }: HeadlessConfig, io: HeadlessIo): Promise<number> {
  keepHeapSmall();
  const temporaryDir = config.ephemeral || config.dataDir === null ? openTemporaryFolder() : null;
  const dataDir = config.dataDir ?? (temporaryDir as string);
  const output = openOutput(dataDir, config.ephemeral, io);
  let signalled: (signal: string) => void = () => undefined;
  const stopSignal = new Promise<string>((resolve) => {
    signalled = resolve;
  });
  const stopListening = io.onStopSignal((signal) => signalled(signal));
  const logLevel = readLogLevel(io.env, output.logLevel);
  const ended = Promise.withResolvers<never>();
  const first = Promise.withResolvers<App>();
  let app: App | null = null;
  const supervisor = superviseEngine({
    config: { ...config, dataDir },
    log: createLog(realTime, output.writeLog, logLevel),
    time: realTime,
    start: (start) =>
      startApp({
        ...start,
        stateDir: temporaryDir ?? dataDir,
        resourcesDir: findProgramFile('resources'),
        assetsDir: findAssets(),
        logLevel,
        sealer: null,
        writeLog: output.writeLog,
      }),
    onServing(started) {
      app = started;
      first.resolve(started);
      output.serving(started.runtime);
    },
    onFailed: () => undefined,
    mayStartAgain: () => Promise.resolve(false),
    onEnd: ended.reject,
  });
  const uncaught = ['uncaughtException', 'unhandledRejection'] as const;
  for (const event of uncaught) process.on(event, supervisor.fail);
  try {
    void supervisor.start();
    const serving = await Promise.race([first.promise, ended.promise]);
    io.stdout.write(await formatBanner(serving, io));
    if (open) void openInBrowser(serving.signInLink(), { platform: process.platform, env: io.env });
    await Promise.race([stopSignal, ended.promise]);
    output.stopping(stoppingText((app as App | null)?.inProgress() ?? 0));
    await supervisor.stop();
    return 0;
  } catch (error) {
    io.stderr.write(`vivarium: ${describe(error)}\n`);
    return 1;
  } finally {
    for (const event of uncaught) process.off(event, supervisor.fail);
    stopListening();
    output.close();
    if (temporaryDir !== null) rmSync(temporaryDir, { recursive: true, force: true });
  }
}

/** Where Vivarium logs and reports its state: the terminal, or a file in the data folder if in the background. */
function openOutput(dataDir: string, ephemeral: boolean, { stdout, stderr, env }: HeadlessIo) {
  if (env[DETACHED_VARIABLE] === undefined) {
    return {
      logLevel: 'warn' as const,
      writeLog: (line: LogLine) => void stderr.write(`${formatLogLine(line)}\n`),
      serving: () => undefined,
      stopping: (text: string) => void stdout.write(`\n  ${text}.\n`),
      close: () => undefined,
    };
  }
  const logsDir = join(dataDir, LOGS_FOLDER);
  const isNew = !existsSync(logsDir);
  const file = openLogFile(logsDir, (text) => stderr.write(text));
  const log = createLog(realTime, file.write);
  return {
    logLevel: 'info' as const,
    writeLog: file.write,
    serving: ({ version, control }: RuntimeFile) => log.info('Serving', { version, control: control.url }),
    stopping: (text: string) => log.info(text),
    close() {
      file.close();
      if (ephemeral && isNew) rmSync(logsDir, { recursive: true, force: true });
    },
  };
}

const stoppingText = (count: number): string =>
  count === 0 ? 'Stopping' : `Stopping: waiting for ${count} ${count === 1 ? 'request' : 'requests'} in progress`;

function describe(error: unknown): string {
  if (error instanceof VivariumError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // For errors such as a folder in place of a file, the system's own message names the path.
  return 'syscall' in error ? `Vivarium could not start: ${error.message}.` : (error.stack ?? error.message);
}

/** How long the printed sign-in link is valid. */
const PRINTED_LINK_MS = 10 * 60_000;

/** The banner that a terminal shows when Vivarium has started. */
export async function formatBanner(
  { runtime, services, signInLink, demoKey, ownCommand, isEverywhere }: App,
  io: Pick<HeadlessIo, 'stdout' | 'env'>,
): Promise<string> {
  const context = { signal: undefined };
  const status = await services.status.get(undefined, context);
  const projects = await services.projects.list(undefined, context);
  const domains = await services.domains.list(undefined, context);
  const key = demoKey();
  const shown = projects.find((project) => project.id === key?.projectId) ?? projects[0] ?? null;
  return formatWelcome(
    {
      version: status.version,
      dataDir: status.dataDir,
      controlUrl: runtime.control.url,
      signInLink: isEverywhere ? null : signInLink(PRINTED_LINK_MS),
      caFile: runtime.caFile,
      devicesUrl: status.urls.devices,
      ports: { http: runtime.http.port, https: runtime.https.port, dns: runtime.dns.port },
      project:
        shown === null
          ? null
          : {
              id: shown.id,
              name: shown.name,
              plan: shown.plan,
              ...shown.limits,
              baseUrl: shown.baseUrl.production,
              secureBaseUrl: shown.secureBaseUrl.production,
            },
      secret: key?.secret ?? null,
      projectCount: projects.length,
      domains: { attached: domains.length, secure: domains.filter(({ serving }) => serving.https).length },
      warnings: status.warnings,
      stop: io.env[DETACHED_VARIABLE] === undefined ? 'Ctrl-C.' : ownCommand('vivarium stop'),
      ownCommand,
    },
    wantsColour(io),
  );
}
