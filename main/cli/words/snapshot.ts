import type { SnapshotInfo } from '../../contract/snapshots.ts';
import { columns, printable } from '../text/text.ts';
import type { Deeds } from './deed.ts';

const names = { inputs: { name: { names: 'snapshots.list' } } } as const;

export const SNAPSHOTS: Deeds['snapshots'] = {
  list: {
    offers: ({ name, createdAt }) => [name, createdAt],
    view: (snapshots) =>
      `${columns([
        ['name', 'clock', 'size', ''],
        ...snapshots.map((each) => [each.name, each.createdAt, sizeOf(each), each.fault ?? '']),
      ])
        .map(printable)
        .join('\n')}\n`,
    empty: ['There is no snapshot yet. Save one:', 'snapshot save before-demo'],
  },
  save: {
    inputs: { ...names.inputs, file: { isFile: true } },
    view: (snapshot, { asked }) =>
      asked['file'] === undefined
        ? `Saved: ${snapshot.name} (${sizeOf(snapshot)}).\n`
        : `Written: ${printable(String(asked['file']))} (${sizeOf(snapshot)}). It contains no private keys of the root or of certificates, and no secrets of API keys.\n`,
    notes: [
      'Saves projects, pets, zones, domains, certificates, API keys, limits with used counts and bans, settings and the',
      'clock, while requests are answered. With --traffic, also the recorded requests, with their secrets redacted as',
      'Traffic shows them. With --file, into a file for another machine: without the root’s key, private keys of',
      'certificates, keys for updates and secrets of API keys; the root there issues new certificates.',
    ],
  },
  restore: {
    ...names,
    says: restoredText,
    notes: [
      'Replaces all that is in a snapshot, without a restart. The clock continues from the moment of the snapshot if it had',
      'been moved or frozen then, and shows the real time if it had not. Traffic is replaced only by a snapshot that was',
      'saved with --traffic. Settings of this machine stay: the root, the ports, trusted proxies.',
    ],
  },
  restoreFile: {
    words: 'restore',
    by: 'file',
    inputs: { file: { isFile: true, isWord: false } },
    view: (snapshot, { own }) =>
      `${restoredText(snapshot)}\nTo go back to the world before: ${own(`vivarium snapshot restore ${snapshot.previous}`)}\n`,
    notes: ['Before that, the present world is saved as one of the snapshots before-file-1 to before-file-3.'],
  },
  remove: { ...names, says: (snapshot) => `Removed: ${snapshot.name} (${sizeOf(snapshot)}).` },
};

function restoredText({ name, createdAt, realTime }: SnapshotInfo): string {
  return `Restored: ${name}. The clock ${realTime ? 'shows the real time' : `continues from ${createdAt}`}.`;
}

function sizeOf({ bytes, requests }: SnapshotInfo): string {
  const size = `${Math.ceil(bytes / 1_024).toLocaleString('en')} KiB`;
  return requests === undefined
    ? size
    : `${size}, ${requests.toLocaleString('en')} recorded ${requests === 1 ? 'request' : 'requests'}`;
}
