/** Set once a zone is removed: only its rows are left, which are deleted in steps. */
export const REMOVED_ZONES_SCHEMA = `
ALTER TABLE zones ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1));
`;
