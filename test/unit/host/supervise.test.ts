import { describe, expect, it } from 'vitest';
import type { App } from '../../../main/app.ts';
import { DEFAULT_PORTS, type Config } from '../../../main/base/config.ts';
import { silentLog } from '../../../main/base/log.ts';
import { type EngineStart, RESTARTS_MAX, RESTARTS_WINDOW_MS, superviseEngine } from '../../../main/host/supervise.ts';
import { createFakeClock, FAKE_NOW_MS, settle } from '../../support/fake-clock.ts';

const CONFIG: Config = { dataDir: '/data', ...DEFAULT_PORTS, httpPort: 0, ephemeral: false, empty: false };
const BOUND = { httpPort: 8001, httpsPort: 8443, dnsPort: 5354, controlPort: 7 };

/** A supervisor of idle engines; `outcomes` are those of the unsuccessful starts. */
function supervise(options: { config?: Config; outcomes?: unknown[]; mayStartAgain?: boolean; lan?: string } = {}) {
  const clock = createFakeClock();
  const { config = CONFIG, outcomes = [], mayStartAgain = false, lan } = options;
  const happened: string[] = [];
  const starts: EngineStart[] = [];
  let closes = true;
  const supervisor = superviseEngine({
    config,
    log: silentLog,
    time: { now: clock.now, monotonic: clock.monotonic, schedule: (ms, run) => clock.realTimer(ms, run) },
    start(start) {
      starts.push(start);
      const number = starts.length;
      const outcome = outcomes[number - 1];
      if (outcome === 'hangs') return new Promise(() => undefined);
      if (outcome instanceof Error) return Promise.reject(outcome);
      if (outcome === null) return Promise.resolve(null);
      happened.push(`start ${number}`);
      const stop = (drainMs?: number) => {
        happened.push(`stop ${number}${drainMs === undefined ? '' : ' at once'}`);
        return closes ? Promise.resolve() : new Promise<void>(() => undefined);
      };
      const [http, https, dns] = [BOUND.httpPort, BOUND.httpsPort, BOUND.dnsPort].map((port) => ({ port }));
      const runtime = { http, https, dns, control: { url: `http://[::1]:${BOUND.controlPort}` } };
      return Promise.resolve({ runtime, stop, lan: () => lan } as unknown as App);
    },
    onServing: () => happened.push('serving'),
    onFailed: () => happened.push('failed'),
    mayStartAgain(error) {
      happened.push(error.message);
      return Promise.resolve(mayStartAgain);
    },
    onEnd: (error) => happened.push(`end: ${error instanceof Error ? error.message : String(error)}`),
  });
  /** Fails once the engine serves, and lets it start again. */
  const failed = async (message = 'x') => {
    await supervisor.start();
    supervisor.fail(new Error(message));
    await settle();
  };
  return { clock, supervisor, happened, starts, failed, hangWhenClosed: () => (closes = false) };
}

describe('an engine that fails', () => {
  it('is closed at once and restarted on its ports, with a warning that names the failure', async () => {
    const { supervisor, happened, starts } = supervise();
    await supervisor.start();
    supervisor.fail(new Error('nobody expected this'));
    supervisor.fail(new Error('because it was closing'));
    await settle();
    expect(happened).toEqual(['start 1', 'serving', 'failed', 'stop 1 at once', 'start 2', 'serving']);
    expect(starts[1]?.config).toEqual({ ...CONFIG, ...BOUND });
    const note = `Vivarium failed at ${new Date(FAKE_NOW_MS).toISOString()} and was started again. nobody expected this. The log has the details.`;
    expect(starts.map(({ notes }) => notes)).toEqual([[], [note]]);
  });

  it.each([
    ['en0', { lan: 'en0', lanWaits: true }],
    [undefined, {}],
  ])('serves other devices on %s as before, whatever the start options were', async (lan, kept) => {
    const { failed, starts } = supervise({ config: { ...CONFIG, lan: 'en7' }, ...(lan !== undefined && { lan }) });
    await failed();
    expect(starts[1]?.config).toEqual({ ...CONFIG, ...BOUND, ...kept });
  });

  it('is restarted after faults of its own, but not after those of a previous one', async () => {
    const { supervisor, happened, starts } = supervise();
    await supervisor.start();
    starts[0]?.onFault(new Error('the database is gone'));
    await settle();
    starts[0]?.onFault(new Error('the database is gone'));
    await settle();
    expect(happened.filter((what) => what === 'failed')).toHaveLength(1);
  });

  it('is restarted even if it does not close', async () => {
    const { supervisor, happened, clock, hangWhenClosed } = supervise();
    hangWhenClosed();
    await supervisor.start();
    supervisor.fail(new Error('x'));
    await clock.pass(1_000);
    expect(happened.slice(-2)).toEqual(['start 2', 'serving']);
  });

  it('stays closed after too many failures in a minute, unless the user starts it', async () => {
    for (const mayStartAgain of [false, true]) {
      const { supervisor, happened } = supervise({ mayStartAgain });
      await supervisor.start();
      for (let failure = 0; failure <= RESTARTS_MAX; failure++) {
        supervisor.fail(new Error('again'));
        await settle();
      }
      const explained = expect.stringMatching(
        /^(?:end: )?Vivarium failed more than 3 times within a minute .* The last failure: again\.$/,
      ) as string;
      const after = mayStartAgain ? ['start 5', 'serving'] : [explained];
      expect(happened.slice(-1 - after.length)).toEqual([explained, ...after]);
    }
  });

  it('may fail any number of times over a longer period', async () => {
    const { supervisor, happened, clock } = supervise();
    await supervisor.start();
    for (let failure = 0; failure < 2 * RESTARTS_MAX; failure++) {
      supervisor.fail(new Error('again'));
      await clock.pass(RESTARTS_WINDOW_MS / RESTARTS_MAX);
    }
    expect(happened.at(-1)).toBe('serving');
  });

  it('is not restarted without a question if its data was in memory only', async () => {
    const { happened, failed } = supervise({ config: { ...CONFIG, ephemeral: true } });
    await failed();
    const lost = 'Its data was in memory only and is lost.';
    expect(happened.at(-1)).toBe(`end: Vivarium failed and has stopped serving: x. ${lost}`);
  });

  it.each<[what: string, outcome: unknown, end: string]>([
    ['the start fails', new Error('a port is taken'), 'end: a port is taken'],
    ['the user gives up', null, 'end: null'],
    ['the start hangs after an error', 'hangs', 'end: x'],
  ])('ends the supervision when %s', async (_what, outcome, end) => {
    for (const before of [0, 1]) {
      const { supervisor, happened } = supervise({ outcomes: [...Array<undefined>(before), outcome] });
      void supervisor.start();
      await settle();
      if (before === 1) supervisor.fail(new Error('the first one fails'));
      await settle();
      supervisor.fail(new Error('x'));
      await settle();
      expect(happened.at(-1)).toBe(end);
    }
  });

  it('is not restarted while Vivarium stops', async () => {
    const { supervisor, happened } = supervise();
    await supervisor.start();
    supervisor.fail(new Error('x'));
    await supervisor.stop();
    supervisor.fail(new Error('y'));
    expect(happened).toEqual(['start 1', 'serving', 'failed', 'stop 1 at once']);
  });
});
