/**
 * The first schema. Times are epoch milliseconds. Never edit a published migration: add a new file.
 *
 * `position` is the insertion order, which decides "newest first" when the app's clock was frozen or moved back. A
 * removed project's dataset has no `project_id`; its rows are purged in small steps. Orders reference their pet without
 * a foreign key: an order outlives its pet.
 */
export const INITIAL_SCHEMA = `
CREATE TABLE projects (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  plan TEXT NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  limit_per_minute INTEGER,
  limit_per_day INTEGER,
  target TEXT NOT NULL CHECK (json_valid(target)),
  primary_hostname TEXT,
  redirects TEXT NOT NULL CHECK (json_valid(redirects)),
  created_at_ms INTEGER NOT NULL,
  CHECK ((limit_per_minute IS NULL) = (limit_per_day IS NULL))
) STRICT;

CREATE TABLE keys (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT;
CREATE INDEX keys_by_project ON keys (project_id, position);

CREATE TABLE deploys (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('succeeded', 'failed')),
  reason TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX deploys_by_project ON deploys (project_id, position);

CREATE TABLE datasets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id TEXT REFERENCES projects (id) ON DELETE SET NULL,
  environment TEXT NOT NULL CHECK (environment IN ('production', 'staging')),
  last_pet_id INTEGER NOT NULL DEFAULT 0,
  last_order_id INTEGER NOT NULL DEFAULT 0,
  UNIQUE (project_id, environment)
) STRICT;

CREATE TABLE pets (
  dataset_id INTEGER NOT NULL REFERENCES datasets (id),
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
  folded_name TEXT NOT NULL,
  PRIMARY KEY (dataset_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pets_by_status ON pets (dataset_id, status, id);

CREATE TABLE pet_counts (
  dataset_id INTEGER NOT NULL REFERENCES datasets (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  pets INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (dataset_id, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER datasets_begin_counts AFTER INSERT ON datasets BEGIN
  INSERT INTO pet_counts (dataset_id, status) VALUES (NEW.id, 'available'), (NEW.id, 'pending'), (NEW.id, 'sold');
END;
CREATE TRIGGER pets_count_added AFTER INSERT ON pets BEGIN
  UPDATE pet_counts SET pets = pets + 1 WHERE dataset_id = NEW.dataset_id AND status = NEW.status;
END;
CREATE TRIGGER pets_count_removed AFTER DELETE ON pets BEGIN
  UPDATE pet_counts SET pets = pets - 1 WHERE dataset_id = OLD.dataset_id AND status = OLD.status;
END;
CREATE TRIGGER pets_count_moved AFTER UPDATE OF status ON pets WHEN OLD.status <> NEW.status BEGIN
  UPDATE pet_counts SET pets = pets - 1 WHERE dataset_id = OLD.dataset_id AND status = OLD.status;
  UPDATE pet_counts SET pets = pets + 1 WHERE dataset_id = NEW.dataset_id AND status = NEW.status;
END;
CREATE TRIGGER datasets_end_counts AFTER UPDATE OF project_id ON datasets WHEN NEW.project_id IS NULL BEGIN
  DELETE FROM pet_counts WHERE dataset_id = NEW.id;
END;

CREATE TABLE orders (
  dataset_id INTEGER NOT NULL REFERENCES datasets (id),
  id INTEGER NOT NULL,
  pet_id INTEGER NOT NULL,
  quantity INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status = 'placed'),
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

CREATE TABLE clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  offset_ms INTEGER NOT NULL,
  frozen_at_ms INTEGER
) STRICT;

CREATE TABLE rate_counters (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  caller TEXT NOT NULL,
  minute_started_at_ms INTEGER,
  minute_used INTEGER NOT NULL,
  day_started_at_ms INTEGER,
  day_used INTEGER NOT NULL,
  strikes INTEGER NOT NULL,
  strikes_until_ms INTEGER,
  banned_until_ms INTEGER,
  PRIMARY KEY (project_id, caller)
) STRICT, WITHOUT ROWID;
`;

/**
 * Zones and their records. Names are absolute DNS names: lower case, A-labels, without the trailing dot.
 *
 * A row of `records` is one version of a record; versions of one record share its `id`, and the one without an end is
 * the final one. `visible_from_ms` is set while the version's beginning propagates, `visible_until_ms` while its end
 * does; versions that are over are deleted. A `key` is never reused, because parsed records are cached by it. Triggers
 * count each zone's versions without an end, because counting 100,000 takes 4 ms.
 */
export const ZONES_SCHEMA = `
CREATE TABLE zones (
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  supports_alias INTEGER NOT NULL CHECK (supports_alias IN (0, 1)),
  created_at_ms INTEGER NOT NULL,
  records INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE records (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  zone TEXT NOT NULL REFERENCES zones (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  ttl INTEGER NOT NULL CHECK (ttl BETWEEN 0 AND 2147483647),
  value TEXT NOT NULL,
  visible_at_ms INTEGER NOT NULL,
  visible_from_ms INTEGER,
  visible_until_ms INTEGER
) STRICT;
CREATE INDEX records_by_name ON records (zone, name, type);
CREATE UNIQUE INDEX records_by_id ON records (id) WHERE visible_until_ms IS NULL;
CREATE UNIQUE INDEX records_current ON records (zone, name, type, value) WHERE visible_until_ms IS NULL;
CREATE INDEX records_beginning ON records (visible_from_ms) WHERE visible_from_ms IS NOT NULL;
CREATE INDEX records_ending ON records (visible_until_ms) WHERE visible_until_ms IS NOT NULL;

CREATE TRIGGER records_count_added AFTER INSERT ON records WHEN NEW.visible_until_ms IS NULL BEGIN
  UPDATE zones SET records = records + 1 WHERE name = NEW.zone;
END;
CREATE TRIGGER records_count_removed AFTER DELETE ON records WHEN OLD.visible_until_ms IS NULL BEGIN
  UPDATE zones SET records = records - 1 WHERE name = OLD.zone;
END;
CREATE TRIGGER records_count_ended AFTER UPDATE OF visible_until_ms ON records
WHEN OLD.visible_until_ms IS NULL AND NEW.visible_until_ms IS NOT NULL BEGIN
  UPDATE zones SET records = records - 1 WHERE name = NEW.zone;
END;
`;

/**
 * Custom domains and their leaves. Hostnames are lower case, A-labels, without the trailing dot.
 *
 * `state_before` is restored after a suspension; `checks` are those of the DNS, `certificate_checks` those of issuance;
 * `certificate` is the state of issuance. `dates` contains both date pairs of a leaf: the app's and the wire's. The
 * private key is in clear text, because only the file's owner can read it.
 */
export const DOMAINS_SCHEMA = `
CREATE TABLE domains (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  hostname TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('apex', 'subdomain')),
  state TEXT NOT NULL CHECK (state IN ('pending', 'verified', 'misconfigured', 'suspended')),
  state_before TEXT CHECK (state_before IN ('pending', 'verified', 'misconfigured')),
  attached_at_ms INTEGER NOT NULL,
  verified_at_ms INTEGER,
  last_checked_at_ms INTEGER,
  next_check_at_ms INTEGER,
  checks TEXT NOT NULL CHECK (json_valid(checks)),
  certificate_checks TEXT NOT NULL CHECK (json_valid(certificate_checks)),
  certificate TEXT NOT NULL CHECK (json_valid(certificate)),
  CHECK ((state = 'suspended') = (state_before IS NOT NULL))
) STRICT;
CREATE INDEX domains_by_project ON domains (project_id);

CREATE TABLE leaves (
  hostname TEXT NOT NULL PRIMARY KEY REFERENCES domains (hostname) ON DELETE CASCADE,
  certificate_pem TEXT NOT NULL,
  private_key_pem TEXT NOT NULL,
  serial TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  sans TEXT NOT NULL CHECK (json_valid(sans)),
  dates TEXT NOT NULL CHECK (json_valid(dates))
) STRICT, WITHOUT ROWID;
`;
