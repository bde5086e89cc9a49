import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../../main/app.ts';
import { bindPort } from '../../../main/base/system/bind-port.ts';
import { DEFAULT_PORTS, type Config } from '../../../main/base/config.ts';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { startEngine } from '../../../main/electron/engine-start.ts';
import type { RunningElsewhere, StartChoice, StartFailure } from '../../../main/electron/engine-start.ts';

const CONFIG: Config = { dataDir: '/data', ...DEFAULT_PORTS, ephemeral: false, empty: false };
const ENGINE = {} as App;

/**
 * Starts with attempts that fail as given until one succeeds; answers each question by the choice that does `doing`.
 */
async function attempt(
  failures: unknown[],
  options: { doing?: StartChoice['do'][]; config?: Config; running?: RunningElsewhere } = {},
) {
  const { doing = [], config = CONFIG, running = null } = options;
  const asked: StartFailure[] = [];
  const tried: Config[] = [];
  const opened: string[] = [];
  let logsShown = 0;
  const result = await startEngine({
    config,
    start(chosen) {
      tried.push(chosen);
      return failures.length === 0 ? Promise.resolve(ENGINE) : Promise.reject(failures.shift() as Error);
    },
    findRunning: () => running,
    ask(failure) {
      asked.push(failure);
      const wanted = doing.shift();
      const choice = failure.choices.find((candidate) => candidate.do === wanted);
      if (choice === undefined) throw new Error(`Nobody can "${String(wanted)}": ${JSON.stringify(failure.choices)}`);
      return Promise.resolve(choice);
    },
    openInterface: ({ url }) => {
      opened.push(url);
      return Promise.resolve();
    },
    showLogs: () => logsShown++,
    log: silentLog,
  });
  return { result, asked, tried, opened, logsShown: () => logsShown };
}

/** The engine's message for a port that is in use, from a real port. */
async function portTaken(): Promise<{ port: number; error: VivariumError }> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void holder.close());
  const { port } = holder.address() as AddressInfo;
  const error = await bindPort({ port, addresses: ['127.0.0.1'], option: '--http-port', createServer }).then(
    () => expect.unreachable(),
    (reason: unknown) => reason as VivariumError,
  );
  return { port, error };
}

describe('starting the engine', () => {
  it('asks nothing if it starts', async () => {
    const { result, asked } = await attempt([]);
    expect([result, asked]).toEqual([ENGINE, []]);
  });

  it('names a port that is in use, and takes another one this time', async () => {
    const { port, error } = await portTaken();
    const config = { ...CONFIG, httpPort: port };
    const { result, asked, tried } = await attempt([error], { doing: ['use-free-port'], config });
    expect(result).toBe(ENGINE);
    expect(asked[0]).toMatchObject({
      message: 'Vivarium can’t use the port for HTTP',
      detail: expect.stringContaining(`Port ${port}`) as string,
    });
    expect(tried).toEqual([config, { ...config, httpPort: 0 }]);
  });

  it('tries again on request', async () => {
    const { port, error } = await portTaken();
    const { result, tried } = await attempt([error, error], {
      doing: ['retry', 'retry'],
      config: { ...CONFIG, httpPort: port },
    });
    expect([result, tried.length]).toEqual([ENGINE, 3]);
  });

  it('offers the interface of the engine that has the data folder', async () => {
    const held = new VivariumError('conflict', 'Vivarium is already running on the data folder /data.');
    const running = { url: 'http://127.0.0.1:4780', token: 'abc' };
    const { result, asked, opened } = await attempt([held], { doing: ['open-interface'], running });
    expect(asked[0]?.message).toBe('Vivarium is already running on this data folder, without a window');
    expect([result, opened]).toEqual([null, ['http://127.0.0.1:4780']]);
  });

  it('shows the engine’s own sentence if nothing else can be done', async () => {
    const damaged = new VivariumError('unavailable', 'The database is damaged. Restore it with …');
    const { result, asked } = await attempt([damaged], { doing: ['quit'] });
    expect(asked[0]?.detail).toBe('The database is damaged. Restore it with …');
    expect(asked[0]?.choices.map((choice) => choice.do)).toEqual(['retry', 'quit']);
    expect(result).toBeNull();
  });

  it('shows the logs for an unexpected error, and asks again', async () => {
    const { result, logsShown } = await attempt([new TypeError('x is undefined'), new TypeError('x is undefined')], {
      doing: ['show-logs', 'quit'],
    });
    expect([result, logsShown()]).toEqual([null, 1]);
  });
});
