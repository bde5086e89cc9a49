/**
 * The serial of each zone's SOA (RFC 1982): another number, and a later one, after every change that can be seen.
 *
 * `last` is the latest serial that any zone was given; the next change takes the one after it, whatever its zone, so
 * that a zone which is removed and made anew goes on after its old serials without leaving a trace. `platform` is the
 * serial of the platform's own zone, which has no rows; `platform_contents` is a digest of what it had then.
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
