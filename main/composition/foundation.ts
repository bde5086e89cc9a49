import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AdjustableClock, createClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { createEventBus, type EventBus } from '../base/events.ts';
import { createLog, type Log, type LogLevel, type LogLine } from '../base/log.ts';
import type { OpenPreview } from '../base/preview.ts';
import type { Sealer } from '../base/sealer.ts';
import { holdSettings, type SettingsHolder } from '../services/settings.ts';
import { DATABASE_FILE } from '../base/data-folder.ts';
import { claimDataFolder } from '../store/data-folder.ts';
import { openStore, type Store } from '../store/store.ts';

export interface FoundationOptions {
  config: Config;
  /** Where root and control token are kept: the data folder, or a temporary one when nothing is to be kept. */
  stateDir: string;
  /** The folder with demo data and page templates. */
  resourcesDir: string;
  writeLog: (line: LogLine) => void;
  logLevel: LogLevel;
  /** The system's keyring; null in plain Node. */
  sealer: Sealer | null;
  /** Opens a window of the desktop app; absent in plain Node. */
  openPreview?: OpenPreview;
}

/** What everything else stands on. */
export interface Foundation extends Pick<
  FoundationOptions,
  'config' | 'stateDir' | 'resourcesDir' | 'sealer' | 'openPreview'
> {
  clock: AdjustableClock;
  log: Log;
  store: Store;
  events: EventBus;
  settings: SettingsHolder;
  /** A path in the data folder. */
  inFolder(name: string): string;
  /** The text of a file in the folder of resources. */
  resource(name: string): string;
  /** Has something closed when Vivarium stops, before all that was built earlier. */
  onStop(closer: Closer): void;
}

export type Closer = () => void | Promise<void>;

/** How long requests in progress may take to finish when Vivarium stops; longer than most, shorter than a supervisor's patience. */
export const DRAIN_MS_MAX = 5_000;

/** Claims the data folder, and opens in it what is kept: the store, the clock's setting, the settings. */
export function openFoundation(options: FoundationOptions, onStop: Foundation['onStop']): Foundation {
  const { config, stateDir, resourcesDir, sealer, openPreview } = options;
  const inFolder = (name: string) => join(config.dataDir, name);
  const folder = claimDataFolder(config.dataDir);
  onStop(() => folder.release({ leaveNothing: config.ephemeral }));

  const clock = createClock({ onError: (error) => log.error('A timer failed', { error }) });
  onStop(() => clock.stop());
  const log = createLog(clock, options.writeLog, options.logLevel);

  const store = openStore({ file: config.ephemeral ? ':memory:' : inFolder(DATABASE_FILE), clock, log });
  onStop(() => store.close());
  const clockSetting = store.clock.get();
  if (clockSetting !== null) clock.restore(clockSetting);

  const events = createEventBus(clock);
  onStop(() => events.close());
  clock.onAdjusted(() => {
    store.clock.set(clock.setting());
    events.emit('clock.changed');
  });
  store.pets.onChanged((dataset) => events.emit('pets.changed', dataset));

  return {
    config,
    stateDir,
    resourcesDir,
    sealer,
    ...(openPreview !== undefined && { openPreview }),
    clock,
    log,
    store,
    events,
    settings: holdSettings(store.settings),
    inFolder,
    resource: (name) => readFileSync(join(resourcesDir, name), 'utf8'),
    onStop,
  };
}
