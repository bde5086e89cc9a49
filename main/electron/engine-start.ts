import type { App } from '../app.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { explainStartFailure, type RunningElsewhere, type StartChoice, type StartFailure } from './start-failure.ts';

export interface EngineStartOptions {
  config: Config;
  start: (config: Config) => Promise<App>;
  /** The Vivarium that holds the data folder, where one does. */
  findRunning: () => RunningElsewhere | null;
  /** Shows what is wrong, and resolves with what to do about it. */
  ask: (failure: StartFailure) => Promise<StartChoice>;
  /** Opens the interface of another Vivarium in the browser; resolves when that is under way. */
  openInterface: (running: RunningElsewhere) => Promise<void>;
  showLogs: () => void;
  log: Log;
}

/** Starts the engine, asking what to do for as long as it fails; null when it is not to be started after all. */
export async function startEngine(options: EngineStartOptions): Promise<App | null> {
  const { start, findRunning, ask, log } = options;
  let { config } = options;
  for (;;) {
    try {
      return await start(config);
    } catch (error) {
      log.error('The engine could not start', { error });
      const choice = await ask(explainStartFailure(error, config, findRunning()));
      switch (choice.do) {
        case 'retry':
          break;
        case 'use-free-port':
          config = { ...config, [choice.port]: 0 };
          break;
        case 'show-logs':
          options.showLogs();
          break;
        case 'open-interface':
          await options.openInterface(choice.running);
          return null;
        case 'quit':
          return null;
      }
    }
  }
}
