import { VERSION } from '../base/version.ts';
import { failureOf, EXIT_FAILED, EXIT_OK, type Io } from './io.ts';
import { usageError } from './flags.ts';
import type { ServeEngine } from './serve.ts';

/** Options that may also precede the command. */
const LEADING_VALUE = '--data-dir';
const LEADING_SWITCH = '--json';

/**
 * Runs one `vivarium` command; resolves with the exit code. Loads only that command's modules: `call` skips the
 * contract, `--version` everything.
 */
export async function run(args: readonly string[], io: Io, loadEngine: () => Promise<ServeEngine>): Promise<number> {
  const { command, rest } = splitCommand(args);
  switch (command) {
    case undefined:
    case '--help':
    case '-h':
    case 'help':
      return help(rest, io);
    case '--version':
    case '-V':
    case 'version':
      io.stdout.write(`${VERSION}\n`);
      return EXIT_OK;
    case 'serve':
      return (await import('./serve.ts')).serve(rest, io, loadEngine);
    case 'call':
      return (await import('./call.ts')).call(rest, io);
    case 'doctor':
      // `doctor run` calls the procedure, which has its own options.
      if (rest[0] === undefined || rest[0].startsWith('-')) return (await import('./doctor.ts')).doctor(rest, io);
      return (await import('./ask.ts')).ask(command, rest, io);
    default:
      return command.startsWith('-') ? unknownOption(command, io) : (await import('./ask.ts')).ask(command, rest, io);
  }
}

function splitCommand(args: readonly string[]): { command: string | undefined; rest: string[] } {
  const leading: string[] = [];
  const rest = [...args];
  for (;;) {
    const first = rest[0];
    if (first === LEADING_VALUE) leading.push(...rest.splice(0, 2));
    else if (first === LEADING_SWITCH || first?.startsWith(`${LEADING_VALUE}=`) === true)
      leading.push(...rest.splice(0, 1));
    else break;
  }
  const command = rest.shift();
  // Help does not depend on the folder.
  if (command === undefined || command === 'help') return { command, rest };
  const takesOptions = rest[0] === undefined || (command === 'doctor' && rest[0].startsWith('-'));
  const isOwn = command === 'call' || command === 'serve' || takesOptions;
  // The procedure follows its namespace; options come after both.
  return { command, rest: isOwn ? [...leading, ...rest] : [...rest.slice(0, 1), ...leading, ...rest.slice(1)] };
}

async function help(topic: readonly string[], io: Io): Promise<number> {
  const [command, procedure] = topic.filter((word) => !word.startsWith('-'));
  try {
    io.stdout.write(await helpOn(command, procedure, io));
    return EXIT_OK;
  } catch (error) {
    io.stderr.write(`vivarium: ${failureOf(error).message}\n`);
    return EXIT_FAILED;
  }
}

async function helpOn(command: string | undefined, procedure: string | undefined, io: Io): Promise<string> {
  if (command === 'serve') return (await import('./serve.ts')).serveHelp(io);
  if (command === 'call') return (await import('./call.ts')).CALL_HELP;
  if (command === 'doctor' && procedure === undefined) return (await import('./doctor.ts')).DOCTOR_HELP;
  const { generalHelp, namespaceHelp, procedureHelp } = await import('./help.ts');
  if (command === undefined || command === 'help') return generalHelp();
  return procedure === undefined ? namespaceHelp(command) : procedureHelp(command, procedure);
}

function unknownOption(option: string, io: Io): number {
  const error = usageError(`There is no command ${JSON.stringify(option)}; "vivarium help" lists them all.`);
  io.stderr.write(`vivarium: ${error.message}\n`);
  return EXIT_FAILED;
}
