import type { EpochMs } from '../base/clock.ts';
import type { Revocation } from '../model/leaf.ts';
import type { Connection } from './connection.ts';

export interface RevocationRow extends Revocation {
  /** On the app's clock. */
  atMs: EpochMs;
  wireNotAfterMs: EpochMs;
}

export interface Revocations {
  get(serial: string): RevocationRow | null;
  /** Those of leaves that expire after `wireMs` in real time. */
  list(wireMs: EpochMs): RevocationRow[];
  insert(row: RevocationRow): void;
}

const SELECT = `SELECT serial, reason, at_ms AS atMs, wire_at_ms AS wireAtMs, wire_not_after_ms AS wireNotAfterMs
  FROM revocations`;

export function createRevocations({ sqlite, guarded }: Connection): Revocations {
  const bySerial = sqlite.prepare<[string], RevocationRow>(`${SELECT} WHERE serial = ?`);
  const after = sqlite.prepare<[EpochMs], RevocationRow>(`${SELECT} WHERE wire_not_after_ms > ? ORDER BY wire_at_ms`);
  const insert = sqlite.prepare<[RevocationRow]>(
    'INSERT INTO revocations VALUES (:serial, :reason, :atMs, :wireAtMs, :wireNotAfterMs)',
  );
  return {
    get: guarded((serial: string) => bySerial.get(serial) ?? null),
    list: guarded((wireMs: EpochMs) => after.all(wireMs)),
    insert: guarded((row: RevocationRow) => void insert.run(row)),
  };
}
