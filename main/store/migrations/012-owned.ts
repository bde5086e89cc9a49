/**
 * What a `vivarium.yaml` owns: one row for each entry. `created` is 0 for what existed before, which outlives the file's
 * claim; `detail` is what is needed to undo it, as JSON. What is removed, and what is renamed, is owned no longer.
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
