import type { EpochMs } from '../base/clock.ts';
import { codeOf } from '../base/error-code.ts';
import { VivariumError } from '../contract/errors.ts';
import type { ZoneSigning } from '../model/zone-signing.ts';
import type { Connection } from './connection.ts';

export interface ZoneRow {
  /** Lower case, A-labels, no trailing dot. */
  name: string;
  supportsAlias: boolean;
  createdAtMs: EpochMs;
}

/** A stored zone. */
export interface StoredZone extends ZoneRow {
  /** The number of its current records. */
  records: number;
  /** The serial of its SOA. */
  serial: number;
  /** Null until its answers are first signed. */
  signing: ZoneSigning | null;
}

export interface Zones {
  /** By name. */
  list(): StoredZone[];
  get(name: string): StoredZone | null;
  /** @throws VivariumError `conflict` when the name exists. */
  insert(row: ZoneRow): void;
  /** Removes the zone with its records, whose rows are deleted in steps; null when it does not exist. */
  remove(name: string): StoredZone | null;
  /** Resolves when the rows of removed zones are deleted; a zone of that name can be inserted without waiting. */
  purged(): Promise<void>;
  count(): number;
  /** The secret for updates of the zone over DNS, in base64; null without one, or without the zone. */
  updateSecret(name: string): string | null;
  setUpdateSecret(name: string, secret: string): void;
  setSigning(name: string, signing: ZoneSigning): void;
  setSupportsAlias(name: string, supportsAlias: boolean): void;
}

type Row = Omit<StoredZone, 'supportsAlias' | 'signing'> & { supportsAlias: number; signing: string | null };

const SELECT =
  'SELECT name, supports_alias AS supportsAlias, created_at_ms AS createdAtMs, records, serial, signing FROM zones WHERE removed = 0';

export function createZones(
  { sqlite, guarded, transactional }: Connection,
  serials: Pick<Serials, 'next'>,
  purge: () => Promise<void>,
): Zones {
  const all = sqlite.prepare<[], Row>(`${SELECT} ORDER BY name`);
  const byName = sqlite.prepare<[string], Row>(`${SELECT} AND name = ?`);
  const insert = sqlite.prepare<[string, number, EpochMs, number]>(
    'INSERT INTO zones (name, supports_alias, created_at_ms, serial) VALUES (?, ?, ?, ?)',
  );
  const remove = sqlite.prepare<[string]>('UPDATE zones SET removed = 1 WHERE name = ?');
  const purgeNow = sqlite.prepare<[string]>('DELETE FROM zones WHERE name = ? AND removed = 1');
  const secretOf = sqlite
    .prepare<[string], string | null>('SELECT update_secret FROM zones WHERE name = ? AND removed = 0')
    .pluck();
  const setSecret = sqlite.prepare<[string, string]>('UPDATE zones SET update_secret = ? WHERE name = ?');
  const setSigning = sqlite.prepare<[string, string]>('UPDATE zones SET signing = ? WHERE name = ?');
  const setAlias = sqlite.prepare<[number, string]>('UPDATE zones SET supports_alias = ? WHERE name = ?');
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM zones WHERE removed = 0').pluck();

  const read = (row: Row): StoredZone => ({
    ...row,
    supportsAlias: row.supportsAlias === 1,
    signing: row.signing === null ? null : (JSON.parse(row.signing) as ZoneSigning),
  });
  const get = (name: string): StoredZone | null => {
    const row = byName.get(name);
    return row === undefined ? null : read(row);
  };

  return {
    list: guarded(() => all.all().map(read)),
    get: guarded(get),
    insert: transactional((row: ZoneRow) => {
      purgeNow.run(row.name);
      try {
        insert.run(row.name, row.supportsAlias ? 1 : 0, row.createdAtMs, serials.next());
      } catch (error) {
        if (codeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
        throw new VivariumError('conflict', `There is a zone "${row.name}" already.`, { cause: error });
      }
    }),
    remove: transactional((name: string) => {
      const row = get(name);
      if (row !== null) remove.run(name);
      return row;
    }),
    purged: purge,
    count: guarded(() => count.get() ?? 0),
    updateSecret: guarded((name: string) => secretOf.get(name) ?? null),
    setUpdateSecret: guarded((name: string, secret: string) => void setSecret.run(secret, name)),
    setSigning: guarded((name: string, signing: ZoneSigning) => void setSigning.run(JSON.stringify(signing), name)),
    setSupportsAlias: guarded((name: string, supports: boolean) => void setAlias.run(supports ? 1 : 0, name)),
  };
}

/** Serials of zones; migration 004 describes their order. */
export interface Serials {
  /** The successor of all earlier serials; call it within the transaction that changes the zone. */
  next(): number;
  /** The platform zone's serial: unchanged for the same contents, else the next. */
  ofPlatform(contentsDigest: string): number;
}

export function createSerials({ sqlite, guarded, transactional }: Connection): Serials {
  // RFC 1982 §3.1: serials wrap at 32 bits; skips 0, which some servers take for none.
  const advance = sqlite.prepare<[], number>('UPDATE serials SET last = last % 4294967295 + 1 RETURNING last').pluck();
  const platform = sqlite.prepare<[], { serial: number; contents: string }>(
    'SELECT platform AS serial, platform_contents AS contents FROM serials',
  );
  const setPlatform = sqlite.prepare<[number, string]>('UPDATE serials SET platform = ?, platform_contents = ?');

  const next = (): number => {
    const serial = advance.get();
    if (serial === undefined) throw new Error('The row of serials is missing.');
    return serial;
  };
  const advancePlatform = transactional((contents: string) => {
    const serial = next();
    setPlatform.run(serial, contents);
    return serial;
  });

  return {
    next,
    ofPlatform: guarded((contentsDigest: string) => {
      const stored = platform.get();
      return stored?.contents === contentsDigest ? stored.serial : advancePlatform(contentsDigest);
    }),
  };
}
