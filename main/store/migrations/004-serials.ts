/**
 * The serial of each zone's SOA (RFC 1982), which increases after every visible change.
 *
 * `last` is the latest serial of all zones; the next change of any zone takes its successor, which lets a recreated
 * zone continue after its old serials without a row for removed zones. `platform` is the serial of the platform's own
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
