/**
 * The serial of each zone's SOA (RFC 1982), which increases after every visible change.
 *
 * `last` is the latest serial of all zones, removed ones included; a new zone begins with its successor, which lets a
 * recreated zone continue after its old serials without a row for removed zones. `platform` is the serial of the platform's own
 * zone, which has no rows; `platform_contents` is a digest of its contents then.
 */
export const SERIALS_SCHEMA = `
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
export const LAST_REQUESTS_SCHEMA = `
ALTER TABLE rate_counters ADD COLUMN last_request_at_ms INTEGER;
`;

/** The orders of one pet. */
export const ORDERS_BY_PET_SCHEMA = `
CREATE INDEX orders_by_pet ON orders (dataset_id, pet_id, id);
`;

/** Revoked leaves, for the root's revocation list: their wire dates decide how long it has them. */
export const REVOCATIONS_SCHEMA = `
CREATE TABLE revocations (
  serial TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  wire_at_ms INTEGER NOT NULL,
  wire_not_after_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** The secret that signs updates of a zone over DNS (RFC 8945), in base64; null until it is asked for. */
export const UPDATE_KEYS_SCHEMA = `
ALTER TABLE zones ADD COLUMN update_secret TEXT;
`;

/** The saved requests of projects and the last ones sent, as `.http` texts. */
export const REQUESTS_SCHEMA = `
CREATE TABLE requests (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  saved TEXT NOT NULL,
  history TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** Set once a zone is removed: only its rows are left, which are deleted in steps. */
export const REMOVED_ZONES_SCHEMA = `
ALTER TABLE zones ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1));
`;

/** How the answers of a zone are signed (DNSSEC), as JSON: its keys, and whether it is on; null until it first is. */
export const SIGNING_SCHEMA = `
ALTER TABLE zones ADD COLUMN signing TEXT;
`;

/**
 * What a `vivarium.yaml` owns: one row for each entry. `created` is 0 for what existed before, which outlives the
 * file's claim; `detail` is what is needed to undo it, as JSON. What is removed, and what is renamed, is owned no
 * longer.
 */
export const OWNED_SCHEMA = `
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
export const BREAKS_SCHEMA = `
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
export const ACME_SCHEMA = `
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
export const ACME_EXTERNAL_KEYS_SCHEMA = `
CREATE TABLE acme_external_keys (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
`;

/** Whose custom domains a project's behave like, and since when an unverified hostname is checked by that rhythm. */
export const PERSONAS_SCHEMA = `
ALTER TABLE projects ADD COLUMN persona TEXT NOT NULL DEFAULT 'animal-store';
ALTER TABLE domains ADD COLUMN series_at_ms INTEGER;
`;
