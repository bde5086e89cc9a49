import { resolveDataDir } from '../../base/system/data-dir.ts';
import { ownCommand, typed } from '../../base/system/own-command.ts';
import { VERSION } from '../../base/version.ts';
import { askForStatus, findAnswering, type AnsweringEngine } from './engine-status.ts';
import { DATA_DIR_FLAG, isOn, JSON_FLAG, lastOf, readArguments } from '../words/flags.ts';
import { EXIT_OK, printFailure, type Io } from '../text/io.ts';
import { localCommand } from '../words/local-command.ts';
import { columns, printable } from '../text/text.ts';

export const STATUS = localCommand({
  name: 'status',
  title: 'what is running on the data folder',
  options: [JSON_FLAG],
  notes: ['Exit code 0; 2 when no Vivarium is running on the data folder.'],
  examples: ['vivarium status', 'vivarium status --json'],
  async run(read, dataDir, io) {
    const engine = await askForStatus(dataDir);
    const { pid, url } = engine.running;
    io.stdout.write(
      isOn(read, JSON_FLAG.name) ? `${JSON.stringify({ pid, url, ...engine.report })}\n` : describeEngine(engine),
    );
  },
});

/** The output of `vivarium` alone, in a terminal: what is running, and what to type next. */
export async function overview(args: readonly string[], io: Io): Promise<number> {
  try {
    const dataDir = resolveDataDir(lastOf(readArguments(args, [DATA_DIR_FLAG, JSON_FLAG]), DATA_DIR_FLAG.name), io);
    const engine = await findAnswering(dataDir);
    const state =
      engine === null ? `Vivarium ${VERSION}. Not running on ${printable(dataDir)}.\n` : describeEngine(engine);
    io.stdout.write(`${state}\nNext\n${nextCommands(engine !== null, dataDir, io)}`);
    return EXIT_OK;
  } catch (error) {
    return printFailure(error, args, io);
  }
}

/** Lines about a running engine. */
export function describeEngine({ running, report }: AnsweringEngine): string {
  const { version, dataDir, ports, urls, counts, warnings } = report;
  const rows = columns([
    ['Interface', running.url],
    ['Listening', `HTTP ${ports.http}, HTTPS ${ports.https}, DNS ${ports.dns}`],
    ...(urls.devices === undefined ? [] : [['Devices', urls.devices]]),
    ['Data folder', printable(dataDir)],
    ['Contents', `${counted(counts.projects, 'project')}, ${counted(counts.domains, 'domain')}`],
    ['Process', String(running.pid)],
    ...warnings.map((warning) => ['Warning', printable(warning)]),
  ]);
  return [`Vivarium ${version} is running.`, '', ...rows.map((row) => `  ${row}`), ''].join('\n');
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function nextCommands(isRunning: boolean, dataDir: string, io: Io): string {
  const own = ownCommand(dataDir, io);
  const rows = isRunning
    ? [
        ['vivarium open', 'Open the interface in the browser'],
        ['vivarium projects list', 'List the projects and their addresses'],
        ['vivarium stop', 'Stop it'],
      ]
    : [
        ['vivarium serve', 'Start it in this terminal'],
        ['vivarium start -d', 'Start it in the background'],
        ['vivarium help', 'See all commands'],
      ];
  return columns(
    rows.map(([command = '', does = '']) => [command === 'vivarium help' ? typed(command, io) : own(command), does]),
  )
    .map((row) => `  ${row}\n`)
    .join('');
}
