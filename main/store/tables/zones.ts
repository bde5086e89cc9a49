import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { codeOf } from '../../base/error-code.ts';
import { conflict } from '../../contract/errors.ts';
import { epochMs } from '../../contract/values.ts';
import { RECORDS_MAX } from '../../contract/zones.ts';
import { isDomainName } from '../../model/dns-name.ts';
import { zoneSigning, type ZoneSigning } from '../../model/dns-lookup.ts';
import type { Connection } from '../connection.ts';
import { count as counted, flag, nullableJson, table, type RowOf, type Stored } from './table.ts';

/** The name of a zone or record. */
export const storedName = z.string().refine(isDomainName, 'must be a DNS name in lower case without a trailing dot');
const serial = z.int().min(0).max(4_294_967_295);

export const ZONES = table(
  'zones',
  ['name'],
  {
    name: storedName.min(1),
    supportsAlias: flag,
    createdAtMs: epochMs,
    /** The number of its current records. */
    records: counted.max(RECORDS_MAX),
    serial,
    /** Null until its answers are first signed. */
    signing: nullableJson(zoneSigning),
  },
  { position: counted, removed: flag, update_secret: z.base64().nullable() },
);

export type StoredZone = RowOf<typeof ZONES>;
export type ZoneRow = Pick<StoredZone, 'name' | 'supportsAlias' | 'createdAtMs'>;

export type Zones = ReturnType<typeof createZones>;

const SELECT = `SELECT ${ZONES.selected} FROM zones WHERE removed = 0`;

export function createZones(
  { sqlite, guarded, transactional }: Connection,
  serials: Pick<Serials, 'next' | 'keepUp'>,
  purge: () => Promise<void>,
) {
  const all = sqlite.prepare<[], Stored>(`${SELECT} ORDER BY name`);
  const byName = sqlite.prepare<[string], Stored>(`${SELECT} AND name = ?`);
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
  const setSerial = sqlite.prepare<[{ name: string; serial: number; isNew: number }]>(
    `UPDATE zones SET serial = :serial WHERE name = :name AND removed = 0 AND serial <> :serial
       AND (:isNew OR (:serial - serial) & 4294967295 < 2147483648)`,
  );
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM zones WHERE removed = 0').pluck();

  const get = (name: string): StoredZone | null => {
    const row = byName.get(name);
    return row === undefined ? null : ZONES.read(row);
  };

  return {
    /** By name. */
    list: guarded(() => all.all().map(ZONES.read)),
    get: guarded(get),
    /** @throws VivariumError `conflict` when the name exists. */
    insert: transactional((row: ZoneRow) => {
      purgeNow.run(row.name);
      try {
        insert.run(row.name, row.supportsAlias ? 1 : 0, row.createdAtMs, serials.next());
      } catch (error) {
        if (codeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
        throw conflict(`There is a zone "${row.name}" already.`, { cause: error });
      }
    }),
    /** Removes the zone with its records, whose rows are deleted in steps; null when it does not exist. */
    remove: transactional((name: string) => {
      const row = get(name);
      if (row !== null) remove.run(name);
      return row;
    }),
    /** Resolves when the rows of removed zones are deleted; a zone of that name can be inserted without waiting. */
    purged: purge,
    count: guarded(() => count.get() ?? 0),
    /** The secret for updates of the zone over DNS, in base64; null without one, or without the zone. */
    updateSecret: guarded((name: string) => secretOf.get(name) ?? null),
    setUpdateSecret: guarded((name: string, secret: string) => void setSecret.run(secret, name)),
    setSigning: guarded((name: string, signing: ZoneSigning) => void setSigning.run(JSON.stringify(signing), name)),
    /**
     * Lets a zone count on from the serial of a zone file: any in a new zone, else only a later one (RFC 1982 §3.2).
     * Returns whether the zone's serial has changed.
     */
    countFrom: transactional((name: string, serial: number, isNew: boolean) => {
      serials.keepUp(serial);
      return setSerial.run({ name, serial, isNew: Number(isNew) }).changes > 0;
    }),
    setSupportsAlias: guarded((name: string, supports: boolean) => void setAlias.run(supports ? 1 : 0, name)),
  };
}

export const SERIALS = table(
  'serials',
  ['id'],
  {},
  { id: z.literal(1), last: serial.min(1), platform: serial, platform_contents: z.string() },
);

/** Serials of zones; migration 004 describes their order. Call them within the transaction that changes the zone. */
export type Serials = ReturnType<typeof createSerials>;

export function createSerials({ sqlite, guarded, transactional }: Connection) {
  // RFC 1982 §3.1: serials wrap at 32 bits; skips 0, which some servers take for none.
  const advance = sqlite.prepare<[], number>('UPDATE serials SET last = last % 4294967295 + 1 RETURNING last').pluck();
  const advanceZone = sqlite
    .prepare<[string], number>('UPDATE zones SET serial = serial % 4294967295 + 1 WHERE name = ? RETURNING serial')
    .pluck();
  const raise = sqlite.prepare<[{ serial: number }]>(
    'UPDATE serials SET last = :serial WHERE (:serial - last) & 4294967295 < 2147483648',
  );
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

  const keepUp = (serial: number): void => void raise.run({ serial });

  return {
    /** The successor of all earlier serials, for a new zone. */
    next,
    /** Moves a zone to the successor of its serial. */
    advance(zone: string): void {
      const serial = advanceZone.get(zone);
      if (serial !== undefined) keepUp(serial);
    },
    /** Lets `next` come after this serial. */
    keepUp,
    /** The platform zone's serial: unchanged for the same contents, else the next. */
    ofPlatform: guarded((contentsDigest: string) => {
      const stored = platform.get();
      return stored?.contents === contentsDigest ? stored.serial : advancePlatform(contentsDigest);
    }),
  };
}
