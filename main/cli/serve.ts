import { defaultDataDir } from '../base/data-dir.ts';
import type { Host, LoadedCommand } from './command.ts';
import { DATA_DIR_FLAG, optionRows } from './flags.ts';
import { printFailure, type Io } from './io.ts';
import { readServeConfig, SERVE_FLAGS, type ServeConfig } from './serve-options.ts';
import { columns } from './text.ts';

export const SERVE: LoadedCommand = { options: SERVE_FLAGS, help: serveHelp, run: serve };

/** The command `serve`. Loads the engine last: help and usage errors do not need it. */
export async function serve(args: readonly string[], io: Io, { loadEngine }: Host): Promise<number> {
  let config: ServeConfig;
  try {
    config = readServeConfig(args, io);
  } catch (error) {
    return printFailure(error, args, io);
  }
  const engine = await loadEngine();
  return engine(config, io);
}

export function serveHelp(io: Pick<Io, 'platform' | 'env' | 'homeDir'>): string {
  const options = SERVE_FLAGS.map((option) =>
    option.name === DATA_DIR_FLAG.name ? { ...option, does: `${option.does} (default ${defaultDataDir(io)})` } : option,
  );
  return `vivarium serve: the Animal Store API at its hostnames, and the interface in the browser

Usage
  vivarium serve [options]

Options, each with its environment variable; an option counts before its variable
${columns(optionRows(options))
  .map((line) => `  ${line}`)
  .join('\n')}

  With --ephemeral and without --data-dir, runtime.json is in a temporary folder, which the start names.
  SIGINT and SIGTERM let requests in progress finish. Exit code 0; 1 when it could not start.

Examples
  vivarium serve
  vivarium serve --data-dir ./vivarium-data --http-port 9080 --https-port 9443
  vivarium serve --ephemeral --control-port 0
  VIVARIUM_HTTP_PORT=9080 vivarium serve
`;
}
