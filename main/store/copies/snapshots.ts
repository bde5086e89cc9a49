import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { existsSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CLOCK_MAX_MS, type AdjustableClock, type EpochMs } from '../../base/clock.ts';
import { codeOf, messageOf, reasonOf } from '../../base/error-code.ts';
import { conflict, notFound, orElse, unavailable, type VivariumError } from '../../contract/errors.ts';
import type { Connection } from '../connection.ts';
import {
  beginFile,
  FILES_TABLE,
  filesIn,
  type KeptFile,
  listFiles,
  makeOwnFolder,
  readCopy,
  refuseReplacing,
  removeLeftovers,
  SNAPSHOT_ID,
  writeCopy,
} from './copy-file.ts';
import { checkCopy, sizeOf } from './database-copy.ts';
import { createSignal } from '../tables/datasets.ts';
import { closing, damageOf, isAboutValue, pageFault } from '../pages.ts';
import { latestVersion, migrate, MIGRATIONS } from '../migrations/migrations.ts';
import { KEPT_SETTINGS, replaceContent, tablesOf } from './replace-content.ts';
import { brokenReference, findBadRow } from '../tables/rows.ts';
import { showsRealTime } from '../tables/settings.ts';

export const SNAPSHOTS_MAX = 50;

export const SNAPSHOT_BYTES_MAX = 1024 ** 3;

const PREFIX = 'snapshot-';
const REST = /^([a-z0-9][a-z0-9._-]{0,63})\.db$/;

/** The member of the table with the facts; an exported file has no other. */
const FACTS = 'snapshot.json';
const DEMO_KEY = 'demo-key.json';
/** The output of `main/traffic/stored.ts`. */
const TRAFFIC = 'traffic.jsonl.zst';

const facts = z.object({
  name: z.string(),
  /** On the app's clock, which continues from here unless it showed the real time. */
  createdAtMs: z.int().min(0).max(CLOCK_MAX_MS),
  /** The key identifier of the root that signed its leaves, in hexadecimal. */
  root: z.string(),
  /** Recorded requests in it; absent without them. */
  requests: z.int().min(0).optional(),
});
export type SnapshotFacts = z.infer<typeof facts>;

/** A snapshot as listed; `fault` says why it cannot be restored. */
export interface StoredSnapshot {
  name: string;
  createdAtMs: EpochMs;
  bytes: number;
  /** Whether the clock showed the real time; a restoration returns to it. */
  realTime: boolean;
  /** Recorded requests in it; null when it leaves the traffic alone. */
  requests: number | null;
  fault: string | null;
}

/** A snapshot that can be restored: checked, and of this Vivarium's schema. */
export interface OpenedSnapshot extends StoredSnapshot, Omit<SnapshotFacts, 'requests'> {
  /** The database that replaces the current content. */
  database: string;
  /** The readable key of the demo project at that time; null without one. */
  demoKey: string | null;
  /** The recorded traffic, unread; null without. */
  traffic: Buffer | null;
  /** Removes the temporary files of opening it. */
  close(): void;
}

export interface SnapshotTarget extends Omit<SnapshotFacts, 'requests'> {
  /** A file outside the folder, to give to others, without secrets; absolute. Null for the folder. */
  file: string | null;
  /** Replaces a snapshot of that name, or in that file. */
  force: boolean;
  demoKey: string | null;
  /** Recorded traffic without secrets, and the number of its entries. */
  traffic: { content: Buffer; entries: number } | null;
}

/** Copies of the whole database under names. */
export type Snapshots = ReturnType<typeof createSnapshots>;

/** Snapshots in `folder`, which is created on first use. */
export function createSnapshots(options: {
  connection: Connection;
  folder: string;
  clock: Pick<AdjustableClock, 'state'>;
  /** Called around the replacement; `onRestored` comes last. */
  before: () => void;
  after: () => void;
}) {
  const { connection, folder, clock } = options;
  const { sqlite } = connection;
  const restored = createSignal<string | null>();
  const pathOf = (name: string): string => join(folder, `${PREFIX}${name}.db`);
  /** The files that this process has written or read through, by path: they are restored without another check. */
  const checked = new Map<string, string>();
  removeLeftovers(folder, PREFIX);

  /** Newest first, by real time. */
  const list = (): StoredSnapshot[] =>
    listFiles(folder, PREFIX, REST).map(({ path, match }) => describe(path, match[1] as string));

  function find(name: string): StoredSnapshot {
    if (statSync(pathOf(name), { throwIfNoEntry: false }) !== undefined) return describe(pathOf(name), name);
    const names = list().map((snapshot) => snapshot.name);
    const there = names.length === 0 ? 'There is none yet' : `There are: ${names.slice(0, NAMED_MAX).join(', ')}`;
    throw notFound(`There is no snapshot "${name}". ${there}.`);
  }

  function refuseTooMany(name: string, trafficBytes: number): void {
    const others = list().filter((snapshot) => snapshot.name !== name);
    const bytes = others.reduce((sum, snapshot) => sum + snapshot.bytes, sizeOf(sqlite) + trafficBytes);
    if (others.length < SNAPSHOTS_MAX && bytes <= SNAPSHOT_BYTES_MAX) return;
    const why =
      others.length >= SNAPSHOTS_MAX
        ? `There are ${SNAPSHOTS_MAX} snapshots already`
        : `With this one, the snapshots would take more than ${SNAPSHOT_BYTES_MAX / 1024 ** 2} MiB`;
    throw conflict(`${why}; remove one first: vivarium snapshot remove ${others.at(-1)?.name ?? ''}`);
  }

  return {
    list,
    /**
     * Consistent while the database is in use: it contains each change completely or not at all.
     * @throws VivariumError conflict when it exists and is not to be replaced, or there are too many; as `writeCopy`.
     */
    async save(target: SnapshotTarget): Promise<StoredSnapshot> {
      const { name, createdAtMs, root, file, force, demoKey, traffic } = target;
      if (file === null) {
        refuseTooMany(name, traffic?.content.length ?? 0);
        makeOwnFolder(folder);
      }
      const path = file ?? pathOf(name);
      const kind = { kind: 'snapshot', ...(file === null ? { what: `The snapshot "${name}"` } : { id: SNAPSHOT_ID }) };
      const realTime = showsRealTime(sqlite);
      const written = await writeCopy({
        sqlite,
        file: path,
        applicationId: SNAPSHOT_ID,
        checkTarget: () => refuseReplacing(path, { ...kind, force }),
        files: () => [
          fileOf(FACTS, JSON.stringify({ name, createdAtMs, root, requests: traffic?.entries })),
          ...(demoKey === null || file !== null ? [] : [fileOf(DEMO_KEY, demoKey)]),
          ...(traffic === null ? [] : [{ path: TRAFFIC, content: traffic.content }]),
        ],
        ...(file !== null && { edit: removeSecrets }),
      });
      if (file === null) checked.set(path, identityOf(path));
      const { bytes } = written;
      return { name, createdAtMs, bytes, realTime, requests: traffic?.entries ?? null, fault: null };
    },
    /** @throws VivariumError not_found; conflict for a file that is not a snapshot, damaged, or of a newer Vivarium. */
    async open(source: { name: string } | { file: string }): Promise<OpenedSnapshot> {
      const path = 'file' in source ? source.file : (find(source.name), pathOf(source.name));
      const bytes = inspect(path);
      try {
        const identity = identityOf(path);
        const isForeign = 'file' in source;
        const isChecked = checked.get(path) === identity;
        const opened = await openChecked(path, { folder, isForeign, isChecked, tables: tablesOf(sqlite) });
        if (!isForeign) checked.set(path, identity);
        return { ...opened, bytes, fault: null };
      } catch (error) {
        throw explainOpening(error, path);
      }
    },
    /**
     * Replaces all content, in one transaction, in which everything read from the store before is read again. An error
     * of any part leaves the content as it was. `present`: the root and the readable key of the demo project.
     */
    restore(snapshot: OpenedSnapshot, present: Pick<OpenedSnapshot, 'root' | 'demoKey'>): void {
      const { database: file, root, createdAtMs, demoKey, realTime } = snapshot;
      const readAnew = (key: string | null) => {
        options.after();
        restored.emit(key);
      };
      options.before();
      const offsetMs = realTime ? 0 : createdAtMs - clock.state().realNow;
      try {
        replaceContent(connection, { file, isOfThisRoot: root === present.root, offsetMs }, () => readAnew(demoKey));
      } catch (error) {
        readAnew(present.demoKey);
        throw error;
      }
    },
    /** Calls `listener` with the readable key of the demo project when all content was replaced, in the same turn. */
    onRestored: (listener: (demoKey: string | null) => void): void => void restored.subscribe(listener),
    /** @throws VivariumError not_found */
    remove(name: string): StoredSnapshot {
      const snapshot = find(name);
      rmSync(pathOf(name), { force: true });
      checked.delete(pathOf(name));
      return snapshot;
    },
  };
}

function identityOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** Names in the message about a missing one. */
const NAMED_MAX = 10;

const fileOf = (path: string, text: string): KeptFile => ({ path, content: Buffer.from(text) });

const unrestorable = (path: string, why: string): VivariumError =>
  conflict(`${path} can't be restored: ${why}. Nothing was changed.`);

function explainOpening(error: unknown, path: string): unknown {
  const damage = damageOf(error);
  if (damage !== null) return unrestorable(path, `it is damaged: ${damage}`);
  const code = codeOf(error);
  if (code === null) return unrestorable(path, messageOf(error));
  return unavailable(`${path} can't be read or copied (${reasonOf(error)}). Nothing was changed.`, { cause: error });
}

/** The size of a file that its header shows to be a snapshot. @throws VivariumError not_found, conflict */
function inspect(path: string): number {
  if (!existsSync(path)) throw notFound(`There is no file ${path}.`);
  const { bytes, fault } = readCopy(path, [SNAPSHOT_ID]);
  if (fault !== null) throw unrestorable(path, statSync(path).isDirectory() ? 'it is a folder' : fault);
  return bytes;
}

function describe(path: string, name: string): StoredSnapshot {
  const { bytes, writtenAtMs, fault } = readCopy(path, [SNAPSHOT_ID]);
  const read = fault === null ? readFactsOf(path) : null;
  return {
    name,
    createdAtMs: read?.createdAtMs ?? Math.floor(writtenAtMs),
    bytes,
    realTime: read?.realTime === true,
    requests: read?.requests ?? null,
    fault: fault ?? (read === null ? 'it is damaged' : null),
  };
}

const readFactsOf = (path: string) =>
  orElse(() => closing(new Sqlite(path, { readonly: true, fileMustExist: true }), factsOf), null);

/** The content of a member; null without it. @throws Error when it has another digest. */
function memberOf(sqlite: Database, path: string): Buffer | null {
  const [member] = filesIn(sqlite, path);
  if (member?.isDamaged === true) throw new Error('it differs from what was stored');
  return member?.content ?? null;
}

/** @throws Error if they are invalid. */
const factsOf = (sqlite: Database) => ({
  ...facts.parse(JSON.parse(String(memberOf(sqlite, FACTS)))),
  realTime: showsRealTime(sqlite),
});

/** @throws Error when a digest or the facts are wrong, or recorded traffic is missing. */
function readFiles(sqlite: Database) {
  const { requests = null, ...read } = factsOf(sqlite);
  const traffic = requests === null ? null : memberOf(sqlite, TRAFFIC);
  if (requests !== null && traffic === null) throw new Error('its recorded traffic is missing');
  return { ...read, requests, traffic, demoKey: memberOf(sqlite, DEMO_KEY)?.toString() ?? null };
}

/** Reads it through, all rows by the descriptions of their tables; copies a file from elsewhere, or of an older schema, which is then migrated. */
async function openChecked(
  path: string,
  options: { folder: string; isForeign: boolean; isChecked: boolean; tables: readonly string[] },
): Promise<Omit<OpenedSnapshot, 'bytes' | 'fault'>> {
  const { isForeign } = options;
  const isOlder = readCopy(path, [SNAPSHOT_ID]).schema !== latestVersion(MIGRATIONS);
  const copied = isForeign || isOlder ? beginOpened(options.folder) : null;
  const close = () => copied?.end();
  const database = copied?.temporary ?? path;
  const isUnread = !options.isChecked || copied !== null;
  try {
    if (copied !== null) await copyFile(path, database);
    const damage = isUnread
      ? await checkCopy(database).then(
          () => null,
          (error: Error) => error,
        )
      : null;
    if (damage !== null && !isAboutValue(damage.message)) throw damage;
    const opened = new Sqlite(database, { readonly: copied === null, fileMustExist: true });
    const read = await closing(opened, async (sqlite) => {
      const files = readFiles(sqlite);
      if (isOlder) migrate(sqlite, MIGRATIONS);
      const own = tablesOf(sqlite).filter((sql) => !sql.includes(FILES_TABLE));
      if (own.join(';') !== options.tables.join(';')) throw new Error('its tables are not those of Vivarium');
      const bad = isUnread ? await findBadRow(sqlite) : null;
      if (bad !== null) throw new Error(bad.what);
      if (isForeign) checkForeign(sqlite);
      return files;
    });
    if (damage !== null) throw damage;
    return { ...read, database, close };
  } catch (error) {
    close();
    throw error;
  }
}

function beginOpened(folder: string) {
  makeOwnFolder(folder);
  return beginFile(folder, `${PREFIX}opened.`);
}

/** Checks what SQLite does not check in rows that are copied unread: constraints and references. */
function checkForeign(sqlite: Database): void {
  const fault = pageFault(sqlite, 'integrity_check');
  if (fault !== null) throw new Error(`it is damaged: ${fault}`);
  const broken = brokenReference(sqlite);
  if (broken !== null) throw new Error(broken);
}

/**
 * A file to give to others has no private keys except those of zones, no secret that opens anything, and no ownership
 * by files of this machine.
 */
function removeSecrets(copy: Database): void {
  const settings = [...KEPT_SETTINGS, 'runs'].map((name) => `'${name}'`).join(', ');
  copy.exec(
    `DELETE FROM leaves; DELETE FROM revocations; DELETE FROM owned;
     DELETE FROM acme_accounts; DELETE FROM acme_external_keys; DELETE FROM acme_authorizations;
     DELETE FROM acme_orders; DELETE FROM acme_certificates;
     UPDATE zones SET update_secret = NULL;
     DELETE FROM settings WHERE name IN (${settings}); VACUUM`,
  );
}
