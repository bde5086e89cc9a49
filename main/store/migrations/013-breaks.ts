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
