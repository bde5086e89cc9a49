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
