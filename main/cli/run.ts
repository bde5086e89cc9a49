import { chosenDataDir } from '../base/system/data-dir.ts';
import { givenFolder, typed } from '../base/system/own-command.ts';
import { findCommand, type Host } from './words/command.ts';
import { COMMANDS } from './words/commands.ts';
import { dashesIn, dataDirIn, refuseEaten } from './words/flags.ts';
import { EXIT_FAILED, EXIT_OK, printFailure, writeHelp, type Io } from './text/io.ts';

/** Options that may also precede the command. */
const LEADING_VALUE = '--data-dir';
const LEADING_SWITCH = '--json';

/**
 * Runs one `vivarium` command; resolves with the exit code. Loads only that command's modules: `call` skips the
 * contract, `--version` everything.
 */
export async function run(args: readonly string[], io: Io, host: Host): Promise<number> {
  const given = chosenDataDir(dataDirIn(args.slice(0, dashesIn(args))), io);
  return given === null ? runCommand(args, io, host) : givenFolder(given, () => runCommand(args, io, host));
}

async function runCommand(args: readonly string[], io: Io, host: Host): Promise<number> {
  const { leading, name, rest } = splitCommand(args);
  if (name === null) {
    if (io.stdout.isTTY === true) return (await import('./engine/engine-commands.ts')).overview(leading, io);
    return runCommand(['help'], io, host);
  }
  const command = findCommand(COMMANDS, name, rest[0]);
  if (command !== undefined) {
    const { help, options, run: runLoaded } = await command.load();
    if (asksForHelp(rest)) {
      writeHelp(help(io), io);
      return EXIT_OK;
    }
    try {
      refuseEaten([command.name], rest, options, io);
    } catch (error) {
      return printFailure(error, rest, io);
    }
    return runLoaded([...leading, ...rest], io, host);
  }
  if (name.startsWith('-')) {
    io.stderr.write(
      `vivarium: There is no command ${JSON.stringify(name)}; "${typed('vivarium help --all')}" lists them all.\n`,
    );
    return EXIT_FAILED;
  }
  // The procedure follows its namespace; options come after both.
  const [procedure, ...options] = rest;
  const words = procedure === undefined ? leading : [procedure, ...leading, ...options];
  const ownNames = COMMANDS.map((own) => own.name);
  return (await import('./words/ask.ts')).ask(name, words, io, ownNames);
}

const asksForHelp = (words: readonly string[]): boolean =>
  words.slice(0, dashesIn(words)).some((word) => word === '--help' || word === '-h');

function splitCommand(args: readonly string[]): { leading: string[]; name: string | null; rest: string[] } {
  const leading: string[] = [];
  const rest = [...args];
  for (;;) {
    const first = rest[0];
    if (first === LEADING_VALUE) leading.push(...rest.splice(0, 2));
    else if (first === LEADING_SWITCH || first?.startsWith(`${LEADING_VALUE}=`) === true)
      leading.push(...rest.splice(0, 1));
    else break;
  }
  return { leading, name: rest.shift() ?? null, rest };
}
