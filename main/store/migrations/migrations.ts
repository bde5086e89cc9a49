import type { Database } from 'better-sqlite3';
import { INITIAL_SCHEMA, ZONES_SCHEMA, DOMAINS_SCHEMA } from './001-003.ts';
import {
  SERIALS_SCHEMA,
  LAST_REQUESTS_SCHEMA,
  ORDERS_BY_PET_SCHEMA,
  REVOCATIONS_SCHEMA,
  UPDATE_KEYS_SCHEMA,
  REQUESTS_SCHEMA,
  REMOVED_ZONES_SCHEMA,
  SIGNING_SCHEMA,
  OWNED_SCHEMA,
  BREAKS_SCHEMA,
  ACME_SCHEMA,
  ACME_EXTERNAL_KEYS_SCHEMA,
  PERSONAS_SCHEMA,
} from './004-016.ts';
import { PETS_IN_ORDER_SCHEMA, PLANS_SCHEMA } from './017-018.ts';

/** One step from schema `version − 1` to `version`. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** All published schema changes, in order and without gaps. The last version is the one this Vivarium supports. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'initial', sql: INITIAL_SCHEMA },
  { version: 2, name: 'zones', sql: ZONES_SCHEMA },
  { version: 3, name: 'domains', sql: DOMAINS_SCHEMA },
  { version: 4, name: 'serials', sql: SERIALS_SCHEMA },
  { version: 5, name: 'last requests', sql: LAST_REQUESTS_SCHEMA },
  { version: 6, name: 'orders by pet', sql: ORDERS_BY_PET_SCHEMA },
  { version: 7, name: 'revocations', sql: REVOCATIONS_SCHEMA },
  { version: 8, name: 'update keys', sql: UPDATE_KEYS_SCHEMA },
  { version: 9, name: 'requests', sql: REQUESTS_SCHEMA },
  { version: 10, name: 'removed zones', sql: REMOVED_ZONES_SCHEMA },
  { version: 11, name: 'signing', sql: SIGNING_SCHEMA },
  { version: 12, name: 'owned', sql: OWNED_SCHEMA },
  { version: 13, name: 'breaks', sql: BREAKS_SCHEMA },
  { version: 14, name: 'acme', sql: ACME_SCHEMA },
  { version: 15, name: 'acme external keys', sql: ACME_EXTERNAL_KEYS_SCHEMA },
  { version: 16, name: 'personas', sql: PERSONAS_SCHEMA },
  { version: 17, name: 'plans', sql: PLANS_SCHEMA },
  { version: 18, name: 'pets in order', sql: PETS_IN_ORDER_SCHEMA },
];

/** The schema version after a list of migrations. */
export const latestVersion = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0;

/** The schema number of an open database. */
export const readVersion = (sqlite: Database): number => Number(sqlite.pragma('user_version', { simple: true }));

/**
 * Runs the missing migrations in one transaction, including the schema number.
 *
 * Foreign keys are off meanwhile, to let a migration rebuild a table without cascading deletes, and are checked before
 * the commit (the procedure of sqlite.org/lang_altertable.html, section 7). @throws Error with the migration's name
 * when one fails; the file is unchanged then.
 */
export function migrate(sqlite: Database, migrations: readonly Migration[]): void {
  const from = readVersion(sqlite);
  sqlite.pragma('foreign_keys = OFF');
  sqlite.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of migrations) if (migration.version > from) apply(sqlite, migration);
    const broken = sqlite.pragma('foreign_key_check') as unknown[];
    if (broken.length > 0) throw new Error(`${broken.length} rows would refer to rows that do not exist.`);
    sqlite.exec('COMMIT');
  } finally {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    sqlite.pragma('foreign_keys = ON');
  }
}

function apply(sqlite: Database, migration: Migration): void {
  try {
    sqlite.exec(migration.sql);
    sqlite.pragma(`user_version = ${migration.version}`);
  } catch (error) {
    throw new Error(`Migration ${migration.version} (${migration.name}) failed.`, { cause: error });
  }
}
