import type { Database } from 'better-sqlite3';
import { INITIAL_SCHEMA, ZONES_SCHEMA, DOMAINS_SCHEMA } from './001-003.ts';

/**
 * The serial of each zone's SOA (RFC 1982), which increases after every visible change.
 *
 * `last` is the latest serial of all zones, removed ones included; a new zone begins with its successor, which lets a
 * recreated zone continue after its old serials without a row for removed zones. `platform` is the serial of the platform's own
 * zone, which has no rows; `platform_contents` is a digest of its contents then.
 */
const SERIALS_SCHEMA = `
ALTER TABLE zones ADD COLUMN serial INTEGER NOT NULL DEFAULT 1;

CREATE TABLE serials (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last INTEGER NOT NULL CHECK (last BETWEEN 1 AND 4294967295),
  platform INTEGER NOT NULL,
  platform_contents TEXT NOT NULL
) STRICT;
INSERT INTO serials (id, last, platform, platform_contents) VALUES (1, 1, 1, '');
`;

/** When each caller last sent a request, refused or not; null for requests before this migration. */
const LAST_REQUESTS_SCHEMA = `
ALTER TABLE rate_counters ADD COLUMN last_request_at_ms INTEGER;
`;

/** The orders of one pet. */
const ORDERS_BY_PET_SCHEMA = `
CREATE INDEX orders_by_pet ON orders (dataset_id, pet_id, id);
`;

/** Revoked leaves, for the root's revocation list: their wire dates decide how long it has them. */
const REVOCATIONS_SCHEMA = `
CREATE TABLE revocations (
  serial TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  wire_at_ms INTEGER NOT NULL,
  wire_not_after_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** The secret that signs updates of a zone over DNS (RFC 8945), in base64; null until it is asked for. */
const UPDATE_KEYS_SCHEMA = `
ALTER TABLE zones ADD COLUMN update_secret TEXT;
`;

/** The saved requests of projects and the last ones sent, as `.http` texts. */
const REQUESTS_SCHEMA = `
CREATE TABLE requests (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  saved TEXT NOT NULL,
  history TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** Set once a zone is removed: only its rows are left, which are deleted in steps. */
const REMOVED_ZONES_SCHEMA = `
ALTER TABLE zones ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1));
`;

/** How the answers of a zone are signed (DNSSEC), as JSON: its keys, and whether it is on; null until it first is. */
const SIGNING_SCHEMA = `
ALTER TABLE zones ADD COLUMN signing TEXT;
`;

/**
 * What a `vivarium.yaml` owns: one row for each entry. `created` is 0 for what existed before, which outlives the
 * file's claim; `detail` is what is needed to undo it, as JSON. What is removed, and what is renamed, is owned no
 * longer.
 */
const OWNED_SCHEMA = `
CREATE TABLE owned (
  kind TEXT NOT NULL,
  what TEXT NOT NULL,
  file TEXT NOT NULL,
  created INTEGER NOT NULL CHECK (created IN (0, 1)),
  detail TEXT NOT NULL CHECK (json_valid(detail)),
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, what)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER projects_disown AFTER DELETE ON projects BEGIN
  DELETE FROM owned WHERE kind IN ('project', 'primary', 'requests') AND what = OLD.slug;
  DELETE FROM owned WHERE kind IN ('key', 'pets') AND what >= OLD.slug || '/' AND what < OLD.slug || '0';
END;
CREATE TRIGGER projects_rename AFTER UPDATE OF slug ON projects WHEN NEW.slug <> OLD.slug BEGIN
  DELETE FROM owned WHERE kind IN ('project', 'primary', 'requests') AND what = OLD.slug;
  DELETE FROM owned WHERE kind IN ('key', 'pets') AND what >= OLD.slug || '/' AND what < OLD.slug || '0';
END;
CREATE TRIGGER domains_disown AFTER DELETE ON domains BEGIN
  DELETE FROM owned WHERE kind IN ('domain', 'redirect') AND what = OLD.hostname;
END;
CREATE TRIGGER zones_disown AFTER UPDATE OF removed ON zones WHEN NEW.removed = 1 BEGIN
  DELETE FROM owned WHERE kind IN ('zone', 'records', 'signing') AND what = OLD.name;
END;
`;

/** Breaks in force; `undo` is what undoes an edit of state, written before the edit is made. */
const BREAKS_SCHEMA = `
CREATE TABLE breaks (
  id TEXT PRIMARY KEY,
  entry TEXT NOT NULL,
  rule TEXT NOT NULL CHECK (json_valid(rule)),
  started_at_ms INTEGER NOT NULL,
  for_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  struck INTEGER NOT NULL,
  undo TEXT CHECK (json_valid(undo))
) STRICT;
`;

/**
 * What the ACME server keeps, as JSON documents of `main/model/acme.ts`; columns beside `body` repeat what is searched.
 * `number` is the order of creation.
 */
const ACME_SCHEMA = `
CREATE TABLE acme_accounts (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thumbprint TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;

CREATE TABLE acme_authorizations (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX acme_authorizations_open ON acme_authorizations (account_id, name) WHERE status IN ('pending', 'valid');

CREATE TABLE acme_orders (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX acme_orders_of_account ON acme_orders (account_id, number);

CREATE TABLE acme_certificates (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX acme_certificates_of_account ON acme_certificates (account_id, number);
`;

/** Keys that bind new ACME accounts to external ones (RFC 8555 §7.3.4), as documents of `main/model/acme.ts`. */
const ACME_EXTERNAL_KEYS_SCHEMA = `
CREATE TABLE acme_external_keys (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
`;

/** Whose custom domains a project's behave like, and since when an unverified hostname is checked by that rhythm. */
const PERSONAS_SCHEMA = `
ALTER TABLE projects ADD COLUMN persona TEXT NOT NULL DEFAULT 'animal-store';
ALTER TABLE domains ADD COLUMN series_at_ms INTEGER;
`;

/** Plans by any name: the contract has their list. A new column in place of the old one keeps the table and its triggers. */
const PLANS_SCHEMA = `
ALTER TABLE projects ADD COLUMN plan_name TEXT NOT NULL DEFAULT 'free';
UPDATE projects SET plan_name = plan;
ALTER TABLE projects DROP COLUMN plan;
ALTER TABLE projects RENAME COLUMN plan_name TO plan;
`;

/** The orders of lists, ready: a dataset has at most 100,000 pets. */
const PETS_IN_ORDER_SCHEMA = `
CREATE INDEX pets_by_name ON pets (dataset_id, folded_name, id, status, category_id);
CREATE INDEX pets_by_category ON pets (dataset_id, category_id, id, status);
`;

/** Claims, and other facts of the emulated APIs of providers. Tokens are in no database. */
const PROVIDER_ITEMS_SCHEMA = `
CREATE TABLE provider_items (
  provider TEXT NOT NULL,
  kind TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  data TEXT NOT NULL CHECK (json_valid(data)),
  PRIMARY KEY (provider, kind, project_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX provider_items_by_project ON provider_items (project_id);
`;

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
  { version: 19, name: 'provider items', sql: PROVIDER_ITEMS_SCHEMA },
];

export const latestVersion = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0;

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
