import type { App } from './app.ts';
import type { RealTime } from './base/clock.ts';
import type { Config } from './base/config.ts';
import type { Log } from './base/log.ts';
import { VivariumError } from './contract/errors.ts';

/** More failures than this within the window are no accident: starting again would only hide them. */
export const RESTARTS_MAX = 3;
export const RESTARTS_WINDOW_MS = 60_000;

/** Requests in progress at a failure may take so long; their engine's state is unknown. */
const DRAIN_MS = 100;
/** The new engine starts even if the old one does not close, and then names what it still holds. */
const CLOSE_MS_MAX = 1_000;

/** What the start of an engine is given beside its configuration. */
export interface EngineStart {
  config: Config;
  /** Warnings for the user: what happened before this start. */
  notes: readonly string[];
  /** Takes failures that the engine itself finds. */
  onFault: (error: unknown) => void;
}

export interface SupervisorOptions {
  config: Config;
  /** Resolves with the engine once it serves; null when the user gives up. */
  start: (options: EngineStart) => Promise<App | null>;
  /** An engine serves: the first one, or the one after a failure. */
  onServing: (engine: App) => void;
  /** The engine has failed and is being closed. */
  onFailed: () => void;
  /** After too many failures, which `error` explains: whether to start it once more. */
  mayStartAgain: (error: VivariumError) => Promise<boolean>;
  /** No engine runs any more, and none will; null when the user decided so. */
  onEnd: (error: unknown) => void;
  log: Log;
  time: Pick<RealTime, 'now' | 'monotonic' | 'schedule'>;
}

/**
 * Runs an engine, and starts it again on its data and its ports when it fails: after an error that no code caught, or
 * one of `onFault`. An ephemeral engine would lose its data, so the user is asked at its first failure.
 */
export interface Supervisor {
  /** Starts the first engine. Its failure ends the supervision. */
  start(): Promise<void>;
  /** Reports a failure, from wherever it was found. Never throws. */
  fail(error: unknown): void;
  /** Stops the engine that runs, or the one that is starting. */
  stop(): Promise<void>;
}

export function superviseEngine(options: SupervisorOptions): Supervisor {
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
    // What failed while the old engine was closed is over.
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
    start: () => (working = begin([])),
    fail,
    async stop() {
      isEnded = true;
      await engine?.stop();
      await working;
    },
  };
}

/** A port that was drawn stays: clients have its address. */
function keepPorts(config: Config, { runtime }: App): Config {
  const { http, https, dns, control } = runtime;
  const controlPort = Number(new URL(control.url).port);
  return { ...config, httpPort: http.port, httpsPort: https.port, dnsPort: dns.port, controlPort };
}

/** Other devices are served as they were; what the start said of them may have been changed since. */
function keepLan({ lan: _lan, lanWaits: _lanWaits, ...config }: Config, failed: App): Config {
  const lan = failed.lan();
  return lan === undefined ? config : { ...config, lan, lanWaits: true };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const tooOften = (reason: string): VivariumError =>
  new VivariumError(
    'internal_error',
    `Vivarium failed more than ${RESTARTS_MAX} times within a minute and has stopped serving; its data is on the disk. ` +
      `The last failure: ${sentence(reason)}`,
  );

const lostData = (reason: string): VivariumError =>
  new VivariumError(
    'internal_error',
    `Vivarium failed and has stopped serving: ${sentence(reason)} Its data was in memory only and is lost.`,
  );
