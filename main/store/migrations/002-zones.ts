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
