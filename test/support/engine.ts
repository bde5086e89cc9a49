import { once } from 'node:events';
import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type App, startApp } from '../../main/app.ts';
import type { Config } from '../../main/base/config.ts';
import type { LogLine } from '../../main/base/log.ts';
import type { Sealer } from '../../main/base/system/desktop.ts';
import type { Project } from '../../main/contract/projects.ts';
import { callAt, type Output } from './rpc/rpc-call.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Calls `close` after the test, even if the test fails; the last tracked resource is closed first. */
export function track(close: () => void | Promise<void>): void {
  onTestFinished(close);
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: unknown;
}

export interface ApiRequest {
  method?: string;
  path?: string;
  host?: string;
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  agent?: Agent;
}

/** A running engine in this process, on free ports. */
export interface Engine {
  app: App;
  dataDir: string;
  log: LogLine[];
  /** One request to the HTTP listener; by default GET /v1/pets at the demo project with its key. */
  api(request?: ApiRequest): Promise<Answer>;
  /** One procedure over the control port, with an input that may be wrong. */
  call<Procedure extends string>(procedure: Procedure, input?: unknown): Promise<Output<Procedure>>;
  project(slug: string): Promise<Project>;
  /** The project made on first start. */
  demo(): Promise<Project>;
  stop(): Promise<void>;
}

interface Surroundings {
  assetsDir?: string | null;
  sealer?: Sealer | null;
  /** By default an empty folder: no test changes this machine. */
  machineRoot?: string;
}

/** Starts an engine, with the demo project by default, and stops it after the test. */
export async function startEngine(options: Partial<Config> = {}, surroundings: Surroundings = {}): Promise<Engine> {
  const machineRoot = surroundings.machineRoot ?? join(temporaryFolder(), 'machine');
  const engine = await launchEngine(
    { ...options, dataDir: options.dataDir ?? temporaryFolder() },
    { ...surroundings, machineRoot },
  );
  track(() => engine.stop());
  return engine;
}

/** Stops an engine, and starts another on its data folder. */
export async function restarted(engine: Engine, options: Partial<Config> = {}): Promise<Engine> {
  await engine.stop();
  return startEngine({ ...options, dataDir: engine.dataDir });
}

/** An engine that its caller stops. */
export async function launchEngine(
  options: Partial<Config> & { dataDir: string },
  { assetsDir = null, sealer = null, machineRoot }: Surroundings & { machineRoot: string },
): Promise<Engine> {
  const { dataDir } = options;
  const log: LogLine[] = [];
  const app = await startApp({
    config: {
      httpPort: 0,
      httpsPort: 0,
      dnsPort: 0,
      controlPort: 0,
      ephemeral: false,
      empty: false,
      ...options,
    },
    stateDir: dataDir,
    resourcesDir: join(import.meta.dirname, '..', '..', 'resources'),
    assetsDir,
    logLevel: 'debug',
    sealer,
    writeLog: (line) => log.push(line),
    machineRoot,
  });
  const { http, control } = app.runtime;
  const project = async (wanted: string): Promise<Project> => {
    const projects = await app.services.projects.list(undefined, { signal: undefined });
    const found = projects.find(({ slug }) => slug === wanted);
    if (found === undefined) throw new Error(`There is no project ${wanted}.`);
    return found;
  };
  return {
    app,
    dataDir,
    log,
    api: ({ host = 'demo.vivarium.localhost', key = app.demoKey()?.secret ?? null, path = '/v1/pets', ...rest } = {}) =>
      send({
        port: http.port,
        path,
        ...rest,
        headers: {
          host: `${host}:${http.port}`,
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...rest.headers,
        },
      }),
    call: (procedure, input) => callAt(control, procedure, input),
    project,
    demo: () => project('demo'),
    stop: () => app.stop(),
  };
}

async function send({ body, headers, ...rest }: ApiRequest & { port: number }): Promise<Answer> {
  const bytes = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type = bytes !== undefined && { 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', agent: false, ...rest, headers: { ...type, ...headers } }).end(bytes);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const content = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, text: content, json: jsonOrNull(content) };
}

function jsonOrNull(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
