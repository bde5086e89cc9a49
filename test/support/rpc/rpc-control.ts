import { onTestFinished, test } from 'vitest';
import { createClock, type Clock } from '../../../main/base/clock.ts';
import { createLog, type LogLine } from '../../../main/base/log.ts';
import { createAccess } from '../../../main/rpc/access.ts';
import type { OpenFile } from '../../../main/rpc/assets.ts';
import { createRouter } from '../../../main/rpc/router.ts';
import { createControlServer } from '../../../main/rpc/server.ts';
import { createFakeServices } from './rpc-fake-services.ts';

export const CONTROL_TOKEN = 'T0ken_of-this-test';

export type Control = Awaited<ReturnType<typeof startControl>>;

/** How long a stop in a test waits for running calls. */
const STOP_MS = 2_000;

/** A control server with fake services, on a free port, stopped after the test. */
export async function startControl(
  options: {
    clock?: Pick<Clock, 'realTimer' | 'monotonic'>;
    assetsDir?: string | null;
    port?: number;
    connectionsMax?: number;
    requestStop?: () => void;
    openFiles?: ReadonlyMap<string, OpenFile>;
  } = {},
) {
  const clock = createClock();
  /** What the server logged. */
  const lines: LogLine[] = [];
  const log = createLog(clock, (line) => lines.push(line), 'debug');
  const fake = createFakeServices();
  const access = createAccess(CONTROL_TOKEN, () => clock.state().realNow);
  const server = createControlServer({
    clock: options.clock ?? clock,
    log,
    router: createRouter(fake.services, { log, clock: options.clock ?? clock }),
    access,
    port: options.port ?? 0,
    isForwarded: () => false,
    ...(options.connectionsMax !== undefined && { connectionsMax: options.connectionsMax }),
    assetsDir: options.assetsDir ?? null,
    requestStop: options.requestStop ?? (() => undefined),
    version: '1.2.3',
    ...(options.openFiles !== undefined && { openFiles: options.openFiles }),
  });
  const { port, url } = await server.start();
  onTestFinished(() => server.stop(STOP_MS));
  return {
    server,
    fake,
    access,
    port,
    url,
    lines,
    /** `POST /api/<procedure>` with the token; a text is sent unchanged as `body`. */
    post: (procedure: string, body?: unknown, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/${procedure.replace('.', '/')}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${CONTROL_TOKEN}`, ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

/** `test` with a control server for each, and its parts. */
export const controlTest = test
  .extend('control', () => startControl())
  .extend('server', ({ control }) => control.server)
  .extend('fake', ({ control }) => control.fake)
  .extend('access', ({ control }) => control.access)
  .extend('port', ({ control }) => control.port)
  .extend('url', ({ control }) => control.url)
  .extend('lines', ({ control }) => control.lines)
  .extend('post', ({ control }) => control.post);

/** Follows a sign-in link as the page does. */
export const signInWith = (link: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(link.replace('/#ticket=', '/sign-in/'), { method: 'POST', headers });
