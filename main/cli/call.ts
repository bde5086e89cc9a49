import { callProcedure } from './client.ts';
import { resolveDataDir } from '../base/data-dir.ts';
import { typed } from '../base/own-command.ts';
import type { LoadedCommand } from './command.ts';
import { exitCodeOf, failureOf, EXIT_OK, readStdin, type Io, interruptible } from './io.ts';
import { DATA_DIR_FLAG, HELP_FLAG, lastOf, readArguments, usageError } from './flags.ts';
import { findRunning } from './running.ts';
import { jsonLine } from './text.ts';

export const CALL: LoadedCommand = { options: [DATA_DIR_FLAG, HELP_FLAG], help: () => CALL_HELP, run: call };

const CALL_HELP = `vivarium call: one procedure, for scripts

Usage
  vivarium call <namespace.procedure> ['<json input>' | -] [--data-dir DIR]

  The JSON result goes to standard output. "-" reads the input from standard input. A procedure that streams
  prints one JSON value a line, until it is interrupted.

Exit codes
  0  done, whatever the result says
  1  failed: {"code", "message", …} in JSON on standard error
  2  no Vivarium is running on the data folder: the same

Examples
  vivarium call status.get
  vivarium call projects.create '{"name":"Aquarium"}'
  vivarium call events.watch
`;

/** The command `call`: all output is JSON, errors included. */
async function call(args: readonly string[], io: Io): Promise<number> {
  try {
    const read = readArguments(args, CALL.options);
    const [name, input = '', surplus] = read.positionals;
    if (name === undefined)
      throw usageError(`Name a procedure, such as: ${typed(`vivarium call pets.list '{"projectId":"…"}'`)}`);
    if (surplus !== undefined) {
      throw usageError(`Unexpected argument ${JSON.stringify(surplus)}: put the JSON input in quotes.`);
    }
    const running = findRunning(resolveDataDir(lastOf(read, 'data-dir'), io));
    const json = input === '-' ? await readStdin(io) : input;
    await interruptible(io, async (signal, onStream) => {
      const reply = await callProcedure(running, name, json, signal);
      if (reply.kind === 'result') return void io.stdout.write(jsonLine(reply.json, io.stdout));
      onStream();
      for await (const value of reply.values) io.stdout.write(jsonLine(value, io.stdout));
    });
    return EXIT_OK;
  } catch (error) {
    io.stderr.write(`${JSON.stringify(failureOf(error))}\n`);
    return exitCodeOf(error);
  }
}
