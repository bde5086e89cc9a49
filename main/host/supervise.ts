import { setFlagsFromString } from 'node:v8';
import type { App } from '../app.ts';
import type { RealTime } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { internalError, type VivariumError } from '../contract/errors.ts';
import { messageOf } from '../base/error-code.ts';

/** After more failures than this within the window, another restart would only hide a persistent fault. */
export const RESTARTS_MAX = 3;
export const RESTARTS_WINDOW_MS = 60_000;

/** How long requests in progress may take after a failure. Short, because the engine's state is unknown. */
const DRAIN_MS = 100;
/** The new engine starts even if the old one has not closed by then, and reports any port that is still taken. */
const CLOSE_MS_MAX = 1_000;

export interface EngineStart {
  config: Config;
  /** Warnings for the user about events before this start. */
  notes: readonly string[];
  /** Called with failures that the engine itself detects. */
  onFault: (error: unknown) => void;
}

export interface SupervisorOptions {
  config: Config;
  /** Resolves with the engine once it serves; null when the user gives up. */
  start: (options: EngineStart) => Promise<App | null>;
  /** Called when an engine serves: the first one, or one that replaces a failed one. */
  onServing: (engine: App) => void;
  /** Called when the engine has failed and is being closed. */
  onFailed: () => void;
  /** Whether to start the engine once more after too many failures, which `error` explains. */
  mayStartAgain: (error: VivariumError) => Promise<boolean>;
  /** Called when no engine runs and none will be started; null if the user decided that. */
  onEnd: (error: unknown) => void;
  log: Log;
  time: Pick<RealTime, 'now' | 'monotonic' | 'schedule'>;
}

/**
 * Runs an engine and restarts it with the same data and ports when it fails: after an uncaught error, or one passed to
 * `onFault`. An ephemeral engine would lose its data, so the user is asked after its first failure.
 */
export function superviseEngine(options: SupervisorOptions) {
  const { start, onServing, onFailed, mayStartAgain, onEnd, log, time } = options;
  let { config } = options;
  let engine: App | null = null;
  let working: Promise<void> = Promise.resolve();
  let startFault: PromiseWithResolvers<never>;
  let failures: number[] = [];
  let isEnded = false;

  function renewStartFault(): void {
    startFault = Promise.withResolvers<never>();
    startFault.promise.catch(() => undefined);
  }
  renewStartFault();

  async function begin(notes: readonly string[]): Promise<void> {
    let own: App | null = null;
    const early: unknown[] = [];
    const onFault = (error: unknown) => {
      if (own === null) early.push(error);
      else if (engine === own) fail(error);
    };
    try {
      own = await Promise.race([start({ config, notes, onFault }), startFault.promise]);
    } catch (error) {
      return end(error);
    }
    if (own === null) return end(null);
    if (isEnded) return own.stop();
    engine = own;
    config = keepPorts(config, own);
    onServing(own);
    if (early.length > 0) fail(early[0]);
  }

  function end(error: unknown): void {
    if (isEnded) return;
    isEnded = true;
    onEnd(error);
  }

  function fail(error: unknown): void {
    log.error('The engine failed', { error });
    const failed = engine;
    if (failed === null || isEnded) return startFault.reject(error);
    engine = null;
    working = restart(failed, messageOf(error));
  }

  async function restart(failed: App, reason: string): Promise<void> {
    const now = time.monotonic();
    config = keepLan(config, failed);
    failures = [...failures.filter((atMs) => now - atMs < RESTARTS_WINDOW_MS), now];
    const at = new Date(time.now()).toISOString();
    onFailed();
    await closeInTime(failed);
    if (isEnded) return;
    if (config.ephemeral || failures.length > RESTARTS_MAX) {
      const explained = config.ephemeral ? lostData(reason) : tooOften(reason);
      if (!(await mayStartAgain(explained))) return end(explained);
      failures = [];
    }
    // Failures during the closing of the old engine no longer matter.
    renewStartFault();
    await begin([`Vivarium failed at ${at} and was started again. ${sentence(reason)} The log has the details.`]);
  }

  async function closeInTime(failed: App): Promise<void> {
    const late = Promise.withResolvers<undefined>();
    const timer = time.schedule(CLOSE_MS_MAX, () => late.resolve(undefined));
    await Promise.race([failed.stop(DRAIN_MS), late.promise]);
    timer.cancel();
  }

  return {
    /** Starts the first engine. If it cannot start, supervision ends. */
    start: (): Promise<void> => (working = begin([])),
    /** Reports a failure from any source. Never throws. */
    fail,
    /** Stops the running or starting engine. */
    async stop(): Promise<void> {
      isEnded = true;
      await engine?.stop();
      await working;
    },
  };
}

/** Keeps ports that were assigned automatically, because clients know their addresses. */
function keepPorts(config: Config, { runtime }: App): Config {
  const { http, https, dns, control } = runtime;
  const controlPort = Number(new URL(control.url).port);
  return { ...config, httpPort: http.port, httpsPort: https.port, dnsPort: dns.port, controlPort };
}

/** Serves other devices as before the failure; the user may have changed this since the first start. */
function keepLan({ lan: _lan, lanWaits: _lanWaits, ...config }: Config, failed: App): Config {
  const lan = failed.lan();
  return lan === undefined ? config : { ...config, lan, lanWaits: true };
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const tooOften = (reason: string): VivariumError =>
  internalError(
    `Vivarium failed more than ${RESTARTS_MAX} times within a minute and has stopped serving; its data is on the disk. ` +
      `The last failure: ${sentence(reason)}`,
  );

const lostData = (reason: string): VivariumError =>
  internalError(
    `Vivarium failed and has stopped serving: ${sentence(reason)} Its data was in memory only and is lost.`,
  );

/** Allowed growth over the live heap before a full collection. Node and Electron leave V8's default. */
const GROWTH_PERCENT = 30;

/**
 * Keeps the heap close to its live size. By default V8 lets it grow to several times that under load, which saves less
 * than a hundredth of the time here but costs some 60 MB.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
