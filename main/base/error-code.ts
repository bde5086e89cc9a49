/** The code of a system or SQLite error (`ENOSPC`, `SQLITE_FULL`); null if it has none. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
