import { resolve } from 'node:path';
import { ownCommand, typedIn } from '../../base/system/own-command.ts';
import type { SnapshotInfo } from '../../contract/snapshots.ts';
import { nearest } from '../../contract/nearest.ts';
import { askFor } from '../engine/client.ts';
import { isOn, JSON_FLAG, lastOf, usageError, type Arguments, type Option } from '../words/flags.ts';
import type { Io } from '../text/io.ts';
import { localCommand } from '../words/local-command.ts';
import { findRunning } from '../engine/running.ts';
import { columns, printable } from '../text/text.ts';

const FORCE_FLAG: Option = { name: 'force', kind: 'switch', does: 'Replace an older snapshot of that name' };
const TRAFFIC_FLAG: Option = {
  name: 'traffic',
  kind: 'switch',
  does: 'Also save the recorded traffic, without its secrets',
};
const FILE_FLAG: Option = {
  name: 'file',
  kind: 'value',
  placeholder: 'FILE',
  does: 'A file to share, or a received one',
};

const ACTIONS = ['save', 'restore', 'list', 'remove'] as const;
type Action = (typeof ACTIONS)[number];

/** The command `snapshot`. */
export const SNAPSHOT = localCommand({
  name: 'snapshot',
  title: 'save the whole world under a name, and restore it',
  usage: ['save NAME [--traffic] [--force] [--file FILE]', 'restore NAME | --file FILE', 'list', 'remove NAME'],
  options: [TRAFFIC_FLAG, FORCE_FLAG, FILE_FLAG, JSON_FLAG],
  words: ACTIONS,
  fileWord: 1,
  notes: [
    'save     Saves projects, pets, zones, domains, certificates, API keys, limits with used counts and bans, settings and',
    '         the clock. Works while requests are answered. With --traffic, also the recorded requests, with their secrets',
    '         redacted as Traffic shows them.',
    'restore  Replaces all of that, without a restart. The clock continues from the moment of the snapshot if it had been',
    '         moved or frozen then, and shows the real time if it had not. Traffic is replaced only by a snapshot that was',
    '         saved with --traffic. Settings of this machine stay: the root, the ports, trusted proxies.',
    '--file   Writes the snapshot into a file for another machine. The root’s key, private keys of certificates, keys for',
    '         updates and secrets of API keys are not in it; the root there issues new certificates. Before a received file',
    '         is restored, the present world is saved as one of the snapshots before-file-1 to before-file-3.',
    '',
    'Vivarium must be running. Exit code 0; 1 when it failed, with nothing changed; 2 when no Vivarium is running.',
  ],
  examples: [
    'vivarium snapshot save before-demo',
    'vivarium snapshot save before-demo --traffic --force',
    'vivarium snapshot restore before-demo',
    'vivarium snapshot save before-demo --file before-demo.db',
    'vivarium snapshot restore --file before-demo.db',
  ],
  async run(read, dataDir, io) {
    const action = actionOf(read.positionals[0]);
    const input = inputOf(action, read, io);
    const procedure = `snapshots.${action === 'restore' && 'file' in input ? 'restoreFile' : action}`;
    const answer = await askFor<(SnapshotInfo & { previous?: string }) | SnapshotInfo[]>(
      findRunning(dataDir),
      procedure,
      input,
    );
    const isJson = isOn(read, JSON_FLAG.name);
    const lines = Array.isArray(answer) ? listed(answer) : [describe(action, answer, lastOf(read, FILE_FLAG.name))];
    if ('previous' in answer) {
      const back = ownCommand(dataDir, io)(`vivarium snapshot restore ${answer.previous ?? ''}`);
      lines.push(`To go back to the world before: ${back}`);
    }
    io.stdout.write(`${(isJson ? [JSON.stringify(answer)] : lines.map(printable)).join('\n')}\n`);
  },
});

function actionOf(word: string | undefined): Action {
  const action = ACTIONS.find((known) => known === word);
  if (action !== undefined) return action;
  const known = ACTIONS.join(', ');
  if (word === undefined) throw usageError(`Say what to do: ${known}. For example: vivarium snapshot save before-demo`);
  const [meant] = nearest(word, ACTIONS);
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  throw usageError(`snapshot has no ${JSON.stringify(word)}; there are ${known}.${hint}`);
}

function inputOf(action: Action, read: Arguments, { workingDir }: Io): Record<string, unknown> {
  const name = read.positionals[1];
  const path = lastOf(read, FILE_FLAG.name);
  const file = path === undefined ? {} : { file: resolve(workingDir, path) };
  const needsName = action === 'save' || action === 'remove' || (action === 'restore' && path === undefined);
  if (needsName && name === undefined) throw usageError(`Name a snapshot: vivarium snapshot ${action} before-demo`);
  if (!needsName && name !== undefined)
    throw usageError(`Give ${action} no name${path === undefined ? '' : ', or no --file'}.`);
  if (action === 'save')
    return { name, ...file, force: isOn(read, FORCE_FLAG.name), traffic: isOn(read, TRAFFIC_FLAG.name) };
  return { ...(name !== undefined && { name }), ...(action === 'list' || action === 'remove' ? {} : file) };
}

function describe(action: Action, snapshot: SnapshotInfo, file: string | undefined): string {
  const { name, createdAt, realTime } = snapshot;
  const size = sizeOf(snapshot);
  switch (action) {
    case 'restore':
      return `Restored: ${name}. The clock ${realTime ? 'shows the real time' : `continues from ${createdAt}`}.`;
    case 'remove':
      return `Removed: ${name} (${size}).`;
    default:
      return file === undefined
        ? `Saved: ${name} (${size}).`
        : `Written: ${file} (${size}). It contains no private keys of the root or of certificates, and no secrets of API keys.`;
  }
}

function listed(snapshots: readonly SnapshotInfo[]): string[] {
  if (snapshots.length === 0)
    return [typedIn('There is no snapshot yet. Save one: vivarium snapshot save before-demo')];
  const rows = snapshots.map((snapshot) => [snapshot.name, snapshot.createdAt, sizeOf(snapshot), snapshot.fault ?? '']);
  return columns([['name', 'clock', 'size', ''], ...rows]).map((line) => line.trimEnd());
}

function sizeOf({ bytes, requests }: SnapshotInfo): string {
  const size = `${Math.ceil(bytes / 1_024).toLocaleString('en')} KiB`;
  return requests === undefined
    ? size
    : `${size}, ${requests.toLocaleString('en')} recorded ${requests === 1 ? 'request' : 'requests'}`;
}
