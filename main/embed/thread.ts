/**
 * The engines' thread: starts and stops engines on request. Most of the first start's time is spent loading
 * the program, which later engines share.
 */
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { type App, startApp } from '../app.ts';
import { isFolderLocked } from '../offline/at-rest.ts';
import { formatLogLine } from '../base/log.ts';
import { findAssets, findProgramFile } from '../base/system/program.ts';
import { isAlive } from '../base/system/runtime-file.ts';
import { type Children, openChildren } from '../children/children.ts';
import { internalError, VivariumError } from '../contract/errors.ts';
import { type EngineEvent, type EngineRequest, removeLeftBehind } from './engines.ts';
import { listProcedures } from './procedures.ts';

const procedures = listProcedures().map(({ namespace, name, isStream }) => ({ namespace, name, isStream }));
const engines = new Map<number, Promise<{ app: App; children: Children }>>();
let hasLooked = false;

const post = (event: EngineEvent): void => parentPort?.postMessage(event);

parentPort?.on('message', (request: EngineRequest) => {
  void (request.kind === 'start' ? start(request) : stop(request.engine));
});

async function start({ engine, dataDir, empty }: Extract<EngineRequest, { kind: 'start' }>): Promise<void> {
  const starting = startApp({
    config: { dataDir, httpPort: 0, httpsPort: 0, dnsPort: 0, controlPort: 0, ephemeral: true, empty },
    stateDir: dataDir,
    resourcesDir: findProgramFile('resources'),
    assetsDir: findAssets(),
    logLevel: 'warn',
    sealer: null,
    writeLog: (line) => void process.stderr.write(`${formatLogLine(line)}\n`),
    onStopRequest: () => void stop(engine),
  }).then(withChildren);
  engines.set(engine, starting);
  try {
    const { app, children } = await starting;
    post({ kind: 'started', engine, started: { runtime: app.runtime, env: children.variables, procedures } });
  } catch (error) {
    engines.delete(engine);
    post({ kind: 'failed', engine, error: describe(error) });
  }
  if (hasLooked) return;
  hasLooked = true;
  removeLeftBehind((folder, pid) => isAlive(pid) || isFolderLocked(folder) !== false);
}

/** The proxy of a test's children is in this thread too, so that the test may block while they run. */
async function withChildren(app: App): Promise<{ app: App; children: Children }> {
  const { dataDir, caFile, http } = app.runtime;
  const folder = join(dataDir, 'children');
  const opening = openChildren({ folder, caFile, env: process.env, enginePort: () => http.port });
  return { app, children: await opening.catch((error: unknown) => app.stop().then(() => Promise.reject(error))) };
}

async function stop(engine: number): Promise<void> {
  const opened = await engines.get(engine)?.catch(() => undefined);
  await opened?.children.close();
  await opened?.app.stop();
  engines.delete(engine);
  post({ kind: 'stopped', engine });
}

function describe(error: unknown): { code: VivariumError['code']; message: string; issues: VivariumError['issues'] } {
  const { code, message, issues } =
    error instanceof VivariumError ? error : internalError(String(error), { cause: error });
  return { code, message, issues };
}
