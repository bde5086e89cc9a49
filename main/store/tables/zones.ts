import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { conflict } from '../../contract/errors.ts';
import { epochMs } from '../../contract/values.ts';
import { RECORDS_MAX } from '../../contract/zones.ts';
import { isDomainName } from '../../model/dns-name.ts';
import { zoneSigning, type ZoneSigning } from '../../model/dns-lookup.ts';
import type { Connection } from '../connection.ts';
import { count as counted, flag, nullableJson, table, type RowOf, writeOr } from './table.ts';

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
  { sqlite, rows, row: one, value, count, run, transactional }: Connection,
  serials: Pick<Serials, 'next' | 'keepUp'>,
  purge: () => Promise<void>,
) {
  const get = one<[name: string], StoredZone>(`${SELECT} AND name = ?`, ZONES.read);
  const insert = run<[string, number, EpochMs, number]>(
    'INSERT INTO zones (name, supports_alias, created_at_ms, serial) VALUES (?, ?, ?, ?)',
  );
  const remove = run<[string]>('UPDATE zones SET removed = 1 WHERE name = ?');
  const purgeNow = run<[string]>('DELETE FROM zones WHERE name = ? AND removed = 1');
  const set = (column: string) =>
    run<[value: string | number, name: string]>(`UPDATE zones SET ${column} = ? WHERE name = ?`);
  const [setSecret, setSigning, setAlias] = [set('update_secret'), set('signing'), set('supports_alias')];
  const setSerial = sqlite.prepare<[{ name: string; serial: number; isNew: number }]>(
    `UPDATE zones SET serial = :serial WHERE name = :name AND removed = 0 AND serial <> :serial
       AND (:isNew OR (:serial - serial) & 4294967295 < 2147483648)`,
  );

  return {
    /** By name. */
    list: rows<[], StoredZone>(`${SELECT} ORDER BY name`, ZONES.read),
    get,
    /** @throws VivariumError `conflict` when the name exists. */
    insert: transactional(({ name, supportsAlias, createdAtMs }: ZoneRow) => {
      purgeNow(name);
      const taken = (cause: Error) => conflict(`There is a zone "${name}" already.`, { cause });
      writeOr({ UNIQUE: taken }, () => insert(name, Number(supportsAlias), createdAtMs, serials.next()));
    }),
    /** Removes the zone with its records, whose rows are deleted in steps; null when it does not exist. */
    remove: transactional((name: string) => {
      const row = get(name);
      if (row !== null) remove(name);
      return row;
    }),
    /** Resolves when the rows of removed zones are deleted; a zone of that name can be inserted without waiting. */
    purged: purge,
    count: count('SELECT count(*) FROM zones WHERE removed = 0'),
    /** The secret for updates of the zone over DNS, in base64; null without one, or without the zone. */
    updateSecret: value<[name: string], string>('SELECT update_secret FROM zones WHERE name = ? AND removed = 0'),
    setUpdateSecret: (name: string, secret: string) => setSecret(secret, name),
    setSigning: (name: string, signing: ZoneSigning) => setSigning(JSON.stringify(signing), name),
    /**
     * Lets a zone count on from the serial of a zone file: any in a new zone, else only a later one (RFC 1982 §3.2).
     * Returns whether the zone's serial has changed.
     */
    countFrom: transactional((name: string, serial: number, isNew: boolean) => {
      serials.keepUp(serial);
      return setSerial.run({ name, serial, isNew: Number(isNew) }).changes > 0;
    }),
    setSupportsAlias: (name: string, supports: boolean) => setAlias(Number(supports), name),
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

export function createSerials({ row, value, run, transactional }: Connection) {
  // RFC 1982 §3.1: serials wrap at 32 bits; skips 0, which some servers take for none.
  const advance = value<[], number>('UPDATE serials SET last = last % 4294967295 + 1 RETURNING last');
  const advanceZone = value<[string], number>(
    'UPDATE zones SET serial = serial % 4294967295 + 1 WHERE name = ? RETURNING serial',
  );
  const raise = run<[{ serial: number }]>(
    'UPDATE serials SET last = :serial WHERE (:serial - last) & 4294967295 < 2147483648',
  );
  const platform = row<[], { serial: number; contents: string }>(
    'SELECT platform AS serial, platform_contents AS contents FROM serials',
  );
  const setPlatform = run<[number, string]>('UPDATE serials SET platform = ?, platform_contents = ?');

  const next = (): number => {
    const serial = advance();
    if (serial === null) throw new Error('The row of serials is missing.');
    return serial;
  };
  const advancePlatform = transactional((contents: string) => {
    const serial = next();
    setPlatform(serial, contents);
    return serial;
  });

  const keepUp = (serial: number): void => raise({ serial });

  return {
    /** The successor of all earlier serials, for a new zone. */
    next,
    /** Moves a zone to the successor of its serial. */
    advance(zone: string): void {
      const serial = advanceZone(zone);
      if (serial !== null) keepUp(serial);
    },
    /** Lets `next` come after this serial. */
    keepUp,
    /** The platform zone's serial: unchanged for the same contents, else the next. */
    ofPlatform(contentsDigest: string): number {
      const stored = platform();
      return stored?.contents === contentsDigest ? stored.serial : advancePlatform(contentsDigest);
    },
  };
}
