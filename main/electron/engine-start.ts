import type { App } from '../app.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import { messageOf } from '../base/error-code.ts';

export interface EngineStartOptions {
  config: Config;
  start: (config: Config) => Promise<App>;
  /** The Vivarium that holds the data folder, if any. */
  findRunning: () => RunningElsewhere | null;
  /** Shows the failure; resolves with the user's choice. */
  ask: (failure: StartFailure) => Promise<StartChoice>;
  /** Opens the interface of another Vivarium in the browser; resolves once that has begun. */
  openInterface: (running: RunningElsewhere) => Promise<void>;
  showLogs: () => void;
  log: Log;
}

/** Starts the engine; asks the user what to do after each failure. Null when the user gives up. */
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

export type StartChoice =
  /** Retry: the conflicting program may have ended. */
  | { do: 'retry'; label: string }
  /** Retry with any free port in place of the unavailable one, this time only. */
  | { do: 'use-free-port'; label: string; port: PortKey }
  /** Open the interface of the Vivarium that holds the data folder in the browser. */
  | { do: 'open-interface'; label: string; running: RunningElsewhere }
  | { do: 'show-logs'; label: string }
  | { do: 'quit'; label: string };

type PortKey = 'httpPort' | 'httpsPort' | 'dnsPort' | 'controlPort';

const PORT_NAMES: Record<PortKey, string> = {
  httpPort: 'HTTP',
  httpsPort: 'HTTPS',
  dnsPort: 'DNS',
  controlPort: 'the interface',
};

/** Dialog for a failed start. */
export interface StartFailure {
  message: string;
  detail: string;
  /** In the order of the buttons; the first is the default, Escape selects the last. */
  choices: StartChoice[];
}

/** A running Vivarium, from its runtime file. */
export interface RunningElsewhere {
  url: string;
  token: string;
}

const QUIT: StartChoice = { do: 'quit', label: 'Quit' };
const RETRY: StartChoice = { do: 'retry', label: 'Try again' };

/** Explains `error` and lists the choices. @param running the Vivarium that holds the data folder, if any */
export function explainStartFailure(
  error: unknown,
  config: Pick<Config, PortKey>,
  running: RunningElsewhere | null,
): StartFailure {
  if (!(error instanceof VivariumError)) {
    return {
      message: 'Vivarium could not start',
      detail: messageOf(error),
      choices: [RETRY, { do: 'show-logs', label: 'Show logs' }, QUIT],
    };
  }
  const port = refusedPort(error, config);
  if (port !== null) {
    return {
      message: `Vivarium can’t use the port for ${PORT_NAMES[port]}`,
      detail: error.message,
      choices: [RETRY, { do: 'use-free-port', label: 'Use another port this time', port }, QUIT],
    };
  }
  if (error.code === 'conflict' && running !== null) {
    return {
      message: 'Vivarium is already running on this data folder, without a window',
      detail: `It runs at ${running.url}. Open its interface in the browser, or stop it where it was started.`,
      choices: [{ do: 'open-interface', label: 'Open its interface', running }, RETRY, QUIT],
    };
  }
  return { message: 'Vivarium could not start', detail: error.message, choices: [RETRY, QUIT] };
}

/** The option of the port that the system refused; null for any other error. */
function refusedPort(error: VivariumError, config: Pick<Config, PortKey>): PortKey | null {
  const { cause } = error;
  if (!(cause instanceof Error) || !('port' in cause) || typeof cause.port !== 'number' || cause.port === 0)
    return null;
  const keys = Object.keys(PORT_NAMES) as PortKey[];
  return keys.find((key) => config[key] === cause.port) ?? null;
}
