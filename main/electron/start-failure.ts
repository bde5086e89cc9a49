import type { Config } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';

export type StartChoice =
  /** The same again: whoever was in the way may have gone. */
  | { do: 'retry'; label: string }
  /** Again, with any free port in the place of the one that cannot be had; this time only. */
  | { do: 'use-free-port'; label: string; port: PortKey }
  /** To the browser, with the interface of the Vivarium that has the data folder. */
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

/** What is shown when Vivarium could not start. */
export interface StartFailure {
  message: string;
  detail: string;
  /** In the order of the buttons; the first one is the default, the last one is what Escape means. */
  choices: StartChoice[];
}

/** A Vivarium that runs already, as its runtime file tells. */
export interface RunningElsewhere {
  url: string;
  token: string;
}

const QUIT: StartChoice = { do: 'quit', label: 'Quit' };
const RETRY: StartChoice = { do: 'retry', label: 'Try again' };

/**
 * What to say of `error`, and what can be done about it.
 * @param running the Vivarium that holds the data folder, where one does
 */
export function explainStartFailure(
  error: unknown,
  config: Pick<Config, PortKey>,
  running: RunningElsewhere | null,
): StartFailure {
  if (!(error instanceof VivariumError)) {
    return {
      message: 'Vivarium could not start',
      detail: error instanceof Error ? error.message : String(error),
      choices: [RETRY, { do: 'show-logs', label: 'Show logs' }, QUIT],
    };
  }
  const port = refusedPort(error, config);
  if (port !== null) {
    return {
      message: `Vivarium cannot have the port for ${PORT_NAMES[port]}`,
      detail: error.message,
      choices: [RETRY, { do: 'use-free-port', label: 'Use another port this time', port }, QUIT],
    };
  }
  if (error.code === 'conflict' && running !== null) {
    return {
      message: 'Vivarium is already running on this data folder, without a window',
      detail: `It is served at ${running.url}. Its interface can be opened in the browser, or it can be stopped where it was started.`,
      choices: [{ do: 'open-interface', label: 'Open its interface', running }, RETRY, QUIT],
    };
  }
  return { message: 'Vivarium could not start', detail: error.message, choices: [RETRY, QUIT] };
}

/** The option whose port the system refused, or null when the error is about something else. */
function refusedPort(error: VivariumError, config: Pick<Config, PortKey>): PortKey | null {
  const { cause } = error;
  if (!(cause instanceof Error) || !('port' in cause) || typeof cause.port !== 'number' || cause.port === 0)
    return null;
  const keys = Object.keys(PORT_NAMES) as PortKey[];
  return keys.find((key) => config[key] === cause.port) ?? null;
}
