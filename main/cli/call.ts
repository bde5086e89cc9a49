import { callProcedure } from './engine/client.ts';
import { typed } from '../base/system/own-command.ts';
import { command } from './words/command.ts';
import { exitCodeOf, failureOf, EXIT_OK, readStdin, type Io, interruptible } from './text/io.ts';
import { DATA_DIR_FLAG, HELP_FLAG, readArguments, usageError } from './words/flags.ts';
import { findRunning } from './engine/running.ts';
import { jsonLine } from './text/text.ts';

const OPTIONS = [DATA_DIR_FLAG, HELP_FLAG];

export const CALL = command({
  name: 'call',
  title: 'one procedure, for scripts',
  usage: ["<namespace.procedure> ['<json input>' | -]"],
  options: OPTIONS,
  notes: [
    'The JSON result goes to standard output. "-" reads the input from standard input. A procedure that streams',
    'prints one JSON value per line until it is interrupted.',
    '',
    'Exit code 0 whatever the result says; 1 when it failed, with {"code", "message", …} in JSON on standard error; 2',
    'when no Vivarium is running on the data folder, also with that JSON.',
  ],
  examples: [
    'vivarium call status.get',
    `vivarium call projects.create '{"name":"Aquarium"}'`,
    'vivarium call events.watch',
  ],
  run: call,
});

/** The command `call`: all output is JSON, errors included. */
async function call(args: readonly string[], io: Io): Promise<number> {
  try {
    const read = readArguments(args, OPTIONS);
    const [name, input = '', surplus] = read.positionals;
    if (name === undefined)
      throw usageError(`Name a procedure, such as: ${typed(`vivarium call pets.list '{"projectId":"…"}'`)}`);
    if (surplus !== undefined) {
      throw usageError(`Unexpected argument ${JSON.stringify(surplus)}: put the JSON input in quotes.`);
    }
    const running = findRunning(read.dataDir(io));
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
