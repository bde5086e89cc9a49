/** Keys that bind new ACME accounts to external ones (RFC 8555 §7.3.4), as documents of `main/model/acme.ts`. */
export const ACME_EXTERNAL_KEYS_SCHEMA = `
CREATE TABLE acme_external_keys (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
`;
