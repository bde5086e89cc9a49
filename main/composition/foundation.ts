import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { createEventBus } from '../base/events.ts';
import { sweepTemporaryFolders } from '../base/system/temporary-folder.ts';
import { createLog, type LogLevel, type LogLine } from '../base/log.ts';
import type { DesktopFacts, OpenPreview, Sealer } from '../base/system/desktop.ts';
import { holdSettings } from '../services/settings.ts';
import { DATABASE_FILE, SNAPSHOT_FOLDER, removeLeftovers, tightenDataFolder } from '../base/system/data-folder.ts';
import { claimDataFolder } from '../store/data-folder.ts';
import { openStore } from '../store/store.ts';

export interface FoundationOptions {
  config: Config;
  /** Folder of the root and the control token: the data folder, or a temporary one for an ephemeral start. */
  stateDir: string;
  /** The folder with demo data and page templates. */
  resourcesDir: string;
  writeLog: (line: LogLine) => void;
  logLevel: LogLevel;
  /** The system's keyring; null in plain Node. */
  sealer: Sealer | null;
  /** Opens a window of the desktop app; absent in plain Node. */
  openPreview?: OpenPreview;
  /** Describes the desktop app; absent in plain Node. */
  describeDesktop?: () => DesktopFacts;
  /** The engine has failed: stop it, and start it again on its data. Each cause calls it at most once. */
  onFault?: (error: unknown) => void;
  /** `POST /stop` was sent with the token; by default, this acts like SIGTERM. */
  onStopRequest?: () => void;
  /** A folder in place of the system's root for machine changes, in tests. */
  machineRoot?: string;
  /** Sentences about the start that the user should know; shown as warnings until the next start. */
  notes?: readonly string[];
}

/** @param drainMs how long requests in progress may take */
export type Closer = (drainMs: number) => void | Promise<void>;

/** How long requests in progress may take at a stop; longer than most, shorter than a supervisor's timeout. */
export const DRAIN_MS_MAX = 5_000;

/** Shared base of all other parts: configuration, store, clock, log, settings. */
export type Foundation = ReturnType<typeof openFoundation>;

/**
 * Locks the data folder and opens its contents: the store, the clock's state, the settings.
 * @param onStop registers a closer for the stop; closers run in reverse order
 */
export function openFoundation(options: FoundationOptions, onStop: (closer: Closer) => void) {
  const { writeLog, logLevel, onFault, notes = [], machineRoot = '', ...kept } = options;
  const { config, stateDir, resourcesDir } = kept;
  const inFolder = (name: string) => join(config.dataDir, name);
  const folder = claimDataFolder(config.dataDir);
  let isServing = false;
  onStop(() => {
    if (!isServing) folder.empty();
    folder.release({ leaveNothing: config.ephemeral || !isServing });
  });

  const clock = createClock({ onError: (error) => log.error('A timer failed', { error }) });
  onStop(() => clock.stop());
  const log = createLog(clock, writeLog, logLevel);

  removeLeftovers(config.dataDir);
  sweepTemporaryFolders();
  tightenDataFolder(config.dataDir, log);
  const store = openStore({
    file: config.ephemeral ? ':memory:' : inFolder(DATABASE_FILE),
    clock,
    log,
    snapshotFolder: join(stateDir, SNAPSHOT_FOLDER),
    ...(onFault !== undefined && { onFault }),
  });
  store.warnings.push(...notes);
  onStop(() => store.close());
  const clockSetting = store.clock.get();
  if (clockSetting !== null) clock.restore(clockSetting);

  const events = createEventBus(clock);
  onStop(() => events.close());
  clock.storeWith(store.clock.set);
  clock.onAdjusted(() => events.emit('clock.changed'));
  const settings = holdSettings(store.settings);
  store.snapshots.onRestored(() => {
    clock.restore(store.clock.get() ?? { offsetMs: 0, frozenAtMs: null });
    settings.reload();
  });
  store.pets.onChanged((dataset) => events.emit('pets.changed', dataset));

  return {
    ...kept,
    clock,
    log,
    store,
    events,
    /** Empty for the system's root. */
    machineRoot,
    settings,
    /** A path in the data folder. */
    inFolder,
    resource: (name: string) => readFileSync(join(resourcesDir, name), 'utf8'),
    onStop,
    /** Marks the start as complete: until then, a stop removes a data folder that the start created. */
    started(): void {
      isServing = true;
    },
  };
}
