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
