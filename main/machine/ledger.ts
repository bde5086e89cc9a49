import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, posix, win32 } from 'node:path';
import { z } from 'zod';
import type { DataDirInputs } from '../base/system/data-dir.ts';
import { codeOf as errorCodeOf, reasonOf } from '../base/error-code.ts';
import { OWNER_ONLY, syncFolder, writeFileAtomically } from '../base/system/files.ts';
import { takeLock } from '../base/system/lock.ts';
import { conflict, orElse, unavailable, type VivariumError } from '../contract/errors.ts';
import { codeOf, step } from './change.ts';
import { renderPosixUndo, renderWindowsUndo } from './scripts.ts';

export const LEDGER_FILE = 'ledger.json';
const LOCK_FILE = 'ledger.lock';
const VERSION = 1;

/** Maximum number of entries; users have a handful, of a few kilobytes or a hosts file each. */
export const ENTRIES_MAX = 200;

const entry = z.object({
  id: z.string(),
  kind: z.enum(['resolver', 'ports', 'hosts', 'browser', 'trust']),
  what: z.string(),
  /** When the entry was written, before the change, in real time. */
  at: z.string(),
  /** The data folder of the Vivarium that made the change. */
  dataDir: z.string(),
  steps: z.array(step),
  afterApply: z.array(z.string()),
  afterUndo: z.array(z.string()),
  /** Fingerprint of the steps and the previous contents; a mismatch shows that the ledger was edited. */
  code: z.string(),
  /** Set before the undo begins. */
  undoing: z.literal(true).optional(),
  /** The store of a change of trust. */
  store: z.string().optional(),
});
export type Entry = z.infer<typeof entry>;

const ledgerText = z.object({ version: z.literal(VERSION), entries: z.array(entry).max(ENTRIES_MAX) });

/** The changes of this machine that can be undone, oldest first; shared by all Vivariums of the user. */
export type Ledger = ReturnType<typeof openLedger>;

/**
 * Outside the data folders, which may be deleted: `$XDG_STATE_HOME` or `~/.local/state` (XDG Base Directory
 * Specification 0.8), `Application Support`, `%LOCALAPPDATA%`.
 */
export function ledgerFolder({ platform, env, homeDir }: Pick<DataDirInputs, 'platform' | 'env' | 'homeDir'>): string {
  if (platform === 'win32') {
    return win32.join(env['LOCALAPPDATA'] || win32.join(homeDir, 'AppData', 'Local'), 'Vivarium', 'machine');
  }
  if (platform === 'darwin') return posix.join(homeDir, 'Library', 'Application Support', 'Vivarium Machine Changes');
  const state = env['XDG_STATE_HOME'] ?? '';
  const base = posix.isAbsolute(state) ? state : posix.join(homeDir, '.local', 'state');
  return posix.join(base, 'vivarium', 'machine');
}

export function openLedger(options: {
  folder: string;
  platform: NodeJS.Platform;
  root: string;
  write?: typeof writeFileAtomically;
}) {
  const { folder, platform, root, write = writeFileAtomically } = options;
  const file = join(folder, LEDGER_FILE);
  const undoScript = join(folder, platform === 'win32' ? 'undo.ps1' : 'undo.sh');

  function read(): Entry[] {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return [];
      throw unusable(`cannot be read (${reasonOf(error)})`, 'Make it a file that your user may read');
    }
    const found = parse(text);
    const version = z.object({ version: z.number() }).safeParse(found).data?.version;
    if (version !== undefined && version > VERSION) {
      throw unusable('was written by a newer Vivarium', 'Use that version');
    }
    const checked = ledgerText.safeParse(found);
    if (!checked.success || checked.data.entries.some((one) => one.code !== codeOf(one))) {
      throw unusable('is damaged, or was edited', 'Then move both away');
    }
    return checked.data.entries;
  }

  const unusable = (what: string, fix: string): VivariumError =>
    unavailable(
      `The ledger of machine changes ${file} ${what}; nothing was changed. ${undoScript} beside it takes the changes back without Vivarium. ${fix}.`,
    );

  return {
    folder,
    file,
    undoScript,
    /** @throws VivariumError unavailable if the ledger is damaged or from a newer Vivarium. */
    read,
    /** Replaces the ledger and its undo script, durably. Only call it within `alone`. */
    write(entries: readonly Entry[]) {
      if (entries.length > ENTRIES_MAX) {
        throw conflict(`The ledger has ${ENTRIES_MAX} changes, the maximum. Undo some first.`);
      }
      const script =
        platform === 'win32' ? renderWindowsUndo(scripted(entries)) : renderPosixUndo(scripted(entries), root);
      write(file, `${JSON.stringify({ version: VERSION, entries }, null, 2)}\n`, OWNER_ONLY);
      write(undoScript, script, OWNER_ONLY);
      syncFolder(folder);
    },
    /** Runs the action while this process holds the ledger's lock. @throws VivariumError conflict if another one does. */
    async alone<Value>(action: () => Value | Promise<Value>): Promise<Value> {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const release = lock(folder);
      try {
        return await action();
      } finally {
        release();
      }
    },
  };
}

const scripted = (entries: readonly Entry[]) => entries.map((one) => ({ ...one, asUser: one.kind === 'trust' }));

const parse = (text: string): unknown => orElse(() => JSON.parse(text), null);

function lock(folder: string): () => void {
  const path = join(folder, LOCK_FILE);
  let release: (() => void) | null;
  try {
    release = takeLock(path, 0);
  } catch (error) {
    const why = `(${reasonOf(error)}). Check its permissions.`;
    throw unavailable(`The lock file ${path} can't be used ${why}`);
  }
  if (release !== null) return release;
  throw conflict('Vivarium is changing this machine at the moment. Try again when it has finished.');
}

export const removeScript = (path: string): void => rmSync(path, { force: true });
