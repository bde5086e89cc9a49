import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../contract/errors.ts';
import { defaultDataDir, resolveDataDir } from '../base/system/data-dir.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { readRuntime } from '../base/system/runtime-file.ts';
import { widthLimit } from '../base/text/terminal.ts';
import { posixWord, powerShellString } from '../base/text/shell.ts';
import type { StoreTrust } from '../contract/certificates.ts';
import type { MachineChange, MachineChanges, MachineStatus } from '../contract/machine.ts';
import { asking } from './engine/client.ts';
import { JSON_FLAG, switchOption } from './words/flags.ts';
import { EXIT_FAILED, EXIT_OK, failureOf, type Io } from './text/io.ts';
import { localCommand } from './words/command.ts';
import { findRunning, NotRunningError } from './engine/running.ts';
import { printable, wrap } from './text/text.ts';

const DRY_RUN = switchOption('dry-run', 'Change nothing; print what would be done');
export const UNINSTALL = localCommand({
  name: 'uninstall',
  title: 'undo what Vivarium changed on this machine',
  usage: ['[--dry-run]'],
  options: [DRY_RUN, JSON_FLAG],
  notes: [
    'Removes the root of this data folder from every trust store, and undoes what "vivarium machine" changed for it.',
    "Then lists what you may have changed on Vivarium's instructions, with the commands that undo it, and the command",
    'that deletes the data folder. It runs none of these. It can be run again. The root is kept if this folder is a',
    'copy of another one that has the same root.',
    '',
    'Exit code 0 when no trust store has the root any more and no change is left, and with --dry-run; 1 when something',
    'is left.',
  ],
  examples: ['vivarium uninstall --dry-run', 'vivarium uninstall'],
  async run(read, dataDir, io) {
    const report = await work(dataDir, read.isOn(DRY_RUN), io);
    const isJson = read.isOn(JSON_FLAG);
    const lines = isJson
      ? [JSON.stringify(report)]
      : render(report)
          .map(printable)
          .flatMap(fitted(widthLimit(io)));
    io.stdout.write(`${lines.join('\n')}\n`);
    const isLeft = report.stores?.some(({ outcome }) => outcome === 'failed' || outcome === 'to_paste') === true;
    const isChanged = !report.dryRun && report.changes.some(({ state }) => state !== 'undone');
    return isLeft || isChanged ? EXIT_FAILED : EXIT_OK;
  },
});

/** The trust stores of this machine: of a running Vivarium, or read by this process. */
export interface Trust {
  list(): Promise<StoreTrust[]>;
  untrust(store: string): Promise<StoreTrust>;
}

/** The ledger of machine changes, in the same way. */
interface Changes {
  status(): Promise<MachineStatus>;
  undo(input: { ids: string[]; take: boolean }): Promise<MachineChanges>;
}

/** The result for one store. */
export interface StoreOutcome {
  store: string;
  title: string;
  outcome: 'removed' | 'absent' | 'would_remove' | 'kept' | 'to_paste' | 'failed' | 'unknown';
  /** Empty if there is nothing to report. */
  message: string;
  /** To paste: it asks for a password. */
  command?: string;
}

/** Removes the root from all stores that have it. A store that fails does not stop the others. */
export async function withdrawRoot(trust: Trust, dryRun: boolean): Promise<StoreOutcome[]> {
  const outcomes: StoreOutcome[] = [];
  for (const status of await trust.list()) {
    const { store, title, message } = status;
    const found = {
      store,
      title,
      message: status.otherRoots === undefined && status.state !== 'unavailable' ? '' : message,
    };
    if (status.state === 'unavailable') outcomes.push({ ...found, outcome: 'unknown' });
    else if (status.present !== true) outcomes.push({ ...found, outcome: 'absent' });
    else outcomes.push(dryRun ? { ...found, outcome: 'would_remove' } : await removeFrom(trust, found));
  }
  return outcomes;
}

async function removeFrom(
  trust: Trust,
  { store, title }: Pick<StoreOutcome, 'store' | 'title'>,
): Promise<StoreOutcome> {
  try {
    const { present, message, command } = await trust.untrust(store);
    const outcome = present === true ? 'to_paste' : 'removed';
    return { store, title, outcome, message, ...(command !== undefined && present === true && { command }) };
  } catch (error) {
    return { store, title, outcome: 'failed', message: failureOf(error).message };
  }
}

type Report = Awaited<ReturnType<typeof work>>;

async function work(dataDir: string, dryRun: boolean, io: Io) {
  const { findTracesHere, readInstallation } = await import('../offline/at-rest.ts');
  const running = await askRunning(dataDir);
  const { stores, machine } = running ?? readInstallation(dataDir);
  const sharedWith = findTwin(dataDir, io);
  const outcomes = stores === null ? null : await withdrawRoot(stores, dryRun || sharedWith !== null);
  return {
    dryRun,
    /** Null without a root in the data folder. */
    stores: sharedWith === null ? outcomes : (outcomes?.map(keptInstead) ?? null),
    /** Another data folder with the same root, which therefore stays; null when there is none. */
    sharedWith,
    changes: await undoChanges(machine, dataDir, dryRun),
    traces: findTracesHere({ dataDir, home: io.homeDir, environment: io.env }),
    dataDir,
    running: running !== null,
    /** Null when there is no data folder. */
    deleteCommand: existsSync(dataDir) ? deleteCommand(dataDir, io.platform) : null,
  };
}

/** All changes except those of trust, which the stores report. */
async function undoChanges(machine: Changes, dataDir: string, dryRun: boolean): Promise<MachineChange[]> {
  const { changes } = await machine.status();
  const own = changes.filter((change) => change.dataDir === dataDir && change.kind !== 'trust');
  if (dryRun || own.length === 0) return own;
  return (await machine.undo({ ids: own.map(({ id }) => id), take: false })).changes;
}

const keptInstead = (outcome: StoreOutcome): StoreOutcome =>
  outcome.outcome === 'would_remove' ? { ...outcome, outcome: 'kept' } : outcome;

/** The data folder that this one is a copy of, or that is a copy of it: a usual one with the same root. */
function findTwin(dataDir: string, io: Io): string | null {
  const own = rootIn(dataDir);
  if (own === null) return null;
  const runtime = readRuntime(dataDir);
  const others = [resolveDataDir(undefined, io), defaultDataDir(io)];
  if (runtime.state === 'copied') others.unshift(runtime.original);
  const twin = others.find((other) => rootIn(other) === own && realpathSync(other) !== realpathSync(dataDir));
  return twin ?? null;
}

const rootIn = (dataDir: string): string | null =>
  orElse(() => readFileSync(join(dataDir, 'ca', 'root.pem'), 'utf8'), null);

/** Null when none runs. A running one shows the change in its page. */
async function askRunning(dataDir: string): Promise<{ stores: Trust; machine: Changes } | null> {
  const ask = asking(() => findRunning(dataDir));
  try {
    await ask('status.get');
    return {
      machine: { status: () => ask('machine.status'), undo: (input) => ask('machine.undo', input) },
      stores: {
        list: () => ask('ca.trustStatus'),
        untrust: (store) => ask('ca.untrust', { store }),
      },
    };
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw error;
  }
}

const deleteCommand = (dataDir: string, platform: NodeJS.Platform): string =>
  platform === 'win32'
    ? `Remove-Item -Recurse -Force -LiteralPath ${powerShellString(dataDir)}`
    : `rm -rf -- ${posixWord(dataDir)}`;

const OUTCOMES: Record<StoreOutcome['outcome'], string> = {
  removed: 'removed from',
  absent: 'not in',
  would_remove: 'would be removed from',
  kept: 'kept in',
  to_paste: 'still in',
  failed: 'not removed from',
  unknown: 'not checked in',
};

function render({
  dryRun,
  stores,
  changes,
  traces,
  dataDir,
  sharedWith,
  running,
  deleteCommand: remove,
}: Report): string[] {
  const found = traces.filter((trace) => trace.found);
  const possible = traces.filter((trace) => !trace.found);
  return [
    dryRun ? 'The root (nothing is changed)' : 'The root',
    ...(stores === null ? [`  There is none in ${dataDir}, so no trust store has it.`] : stores.flatMap(storeLines)),
    ...(sharedWith === null || stores === null
      ? []
      : [
          `  It is also the root of ${sharedWith}, which may still need it. To remove it there:`,
          `    ${ownCommand(sharedWith)('vivarium uninstall')}`,
        ]),
    ...(changes.length === 0 ? [] : ['', 'The changes to this machine', ...machineLines(changes, dryRun)]),
    ...(found.length === 0 ? [] : ['', 'On this machine; Vivarium runs none of these commands', ...traceLines(found)]),
    '',
    'If you changed these on Vivarium’s instructions, which it cannot know',
    ...traceLines(possible),
    '',
    'The data folder',
    ...(remove === null
      ? [`  ${dataDir} does not exist.`]
      : [
          `  ${dataDir} stays, with its projects, keys, backups and the root’s key. ${
            running ? 'Vivarium is running on it. To stop it:' : 'To delete it:'
          }`,
          ...(running ? [`    ${ownCommand(dataDir)('vivarium stop')}`, '  To delete it then:'] : []),
          `    ${remove}`,
        ]),
  ];
}

/** Breaks sentences to a terminal's width; commands stay whole. */
const fitted =
  (width: number | null) =>
  (line: string): string[] => {
    const [indent = ''] = /^ */.exec(line) ?? [];
    if (width === null || indent === COMMAND_INDENT) return [line];
    return wrap(line.slice(indent.length), width - indent.length).map((text) => indent + text);
  };

const COMMAND_INDENT = '    ';
const MESSAGE_INDENT = '      ';

const storeLines = ({ title, outcome, message, command }: StoreOutcome): string[] => [
  `  ${OUTCOMES[outcome]} ${title}`,
  ...(message === '' ? [] : [`${MESSAGE_INDENT}${message}`]),
  ...(command === undefined ? [] : [`    ${command}`]),
];

const machineLines = (changes: readonly MachineChange[], dryRun: boolean): string[] =>
  changes.flatMap(({ what, state, message, command }) => [
    `  ${becameOf(state, dryRun)}: ${what}`,
    ...(message === undefined ? [] : [`${MESSAGE_INDENT}${message}`]),
    ...(command === undefined || dryRun ? [] : [`${COMMAND_INDENT}${command}`]),
  ]);

function becameOf(state: MachineChange['state'], dryRun: boolean): string {
  if (dryRun) return 'would be undone';
  if (state === 'undone') return 'undone';
  return state === 'changed' ? 'left, because something else has changed it since' : 'left';
}

const traceLines = (traces: Report['traces']): string[] =>
  traces.flatMap(({ title, undo }) => [`  ${title}`, ...undo.split('\n').map(undoLine)]);

/** Entries without a command are printed as shell comments. */
const undoLine = (line: string): string =>
  line.startsWith('# ') ? `${MESSAGE_INDENT}By hand: ${line.slice(2)}` : COMMAND_INDENT + line;
