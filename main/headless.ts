import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, startApp } from './app.ts';
import type { Config } from './base/config.ts';
import { defaultDataDir } from './base/data-dir.ts';
import { formatLogLine, readLogLevel } from './base/log.ts';
import { findAssets, findOwn } from './base/program-folder.ts';
import { VivariumError } from './contract/errors.ts';
import { formatWelcome } from './welcome.ts';

/** What a start needs from its process; passed in for tests. */
export interface HeadlessIo {
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown };
  env: Readonly<Record<string, string | undefined>>;
  /** Calls back on a stop signal; returns a function that stops listening. */
  onStopSignal(callback: (signal: string) => void): () => void;
}

/** Without a data folder, a start is ephemeral and uses a temporary one, where scripts find `runtime.json`. */
export type HeadlessConfig = Omit<Config, 'dataDir'> & {
  dataDir: string | null;
  /** Open the interface in the default browser. */
  open: boolean;
};

/**
 * Serves until a stop signal, then drains. Resolves with the exit code: 0 after a stop; 1 when it could not start, with
 * one line on standard error that says why.
 */
export async function serve({ open, ...config }: HeadlessConfig, io: HeadlessIo): Promise<number> {
  const temporaryDir = config.ephemeral || config.dataDir === null ? mkdtempSync(join(tmpdir(), 'vivarium-')) : null;
  const dataDir = config.dataDir ?? (temporaryDir as string);
  let signalled: (signal: string) => void = () => undefined;
  const stopSignal = new Promise<string>((resolve) => {
    signalled = resolve;
  });
  const stopListening = io.onStopSignal((signal) => signalled(signal));
  try {
    const app = await startApp({
      config: { ...config, dataDir },
      stateDir: temporaryDir ?? dataDir,
      resourcesDir: findOwn('resources'),
      assetsDir: findAssets(),
      logLevel: readLogLevel(io.env, 'warn'),
      sealer: null,
      writeLog: (line) => io.stderr.write(`${formatLogLine(line)}\n`),
    });
    io.stdout.write(await formatBanner(app, io));
    if (open) openInBrowser(app.signInLink());
    await stopSignal;
    io.stdout.write('\n  Stopping: waiting for requests in progress.\n');
    await app.stop();
    return 0;
  } catch (error) {
    io.stderr.write(`${describe(error)}\n`);
    return 1;
  } finally {
    stopListening();
    if (temporaryDir !== null) rmSync(temporaryDir, { recursive: true, force: true });
  }
}

/** Programs that open an address with the user's default application. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens `url` in the default browser; ignores failures because the address is printed anyway. */
function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

function describe(error: unknown): string {
  if (error instanceof VivariumError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // The system's own message for errors such as a folder in place of a file; it names the path.
  return 'syscall' in error ? `Vivarium could not start: ${error.message}.` : (error.stack ?? error.message);
}

/** The banner that a terminal shows once Vivarium serves. */
export async function formatBanner(
  { runtime, services, demoKey, ownCommand }: App,
  io: Pick<HeadlessIo, 'stdout' | 'env'>,
): Promise<string> {
  const context = { signal: undefined };
  const status = await services.status.get(undefined, context);
  const projects = await services.projects.list(undefined, context);
  const domains = await services.domains.list(undefined, context);
  const key = demoKey();
  const shown = projects.find((project) => project.id === key?.projectId) ?? projects[0] ?? null;
  const usualDataDir = defaultDataDir({ platform: process.platform, env: io.env, homeDir: homedir() });
  return formatWelcome(
    {
      version: status.version,
      dataDir: status.dataDir,
      controlUrl: runtime.control.url,
      token: runtime.control.token,
      caFile: runtime.caFile,
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
      ownCommand: (command) => ownCommand(command, usualDataDir),
    },
    wantsColour(io),
  );
}

/** Colours for terminals, unless NO_COLOR (no-color.org) is set; FORCE_COLOR enables them for pipes. */
function wantsColour({ stdout, env }: Pick<HeadlessIo, 'stdout' | 'env'>): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false;
  if ((env.FORCE_COLOR ?? '') !== '' && env.FORCE_COLOR !== '0') return true;
  return stdout.isTTY === true && env.TERM !== 'dumb';
}
