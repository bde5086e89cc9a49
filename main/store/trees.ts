import type { Database } from 'better-sqlite3';

/**
 * One SELECT for each tree of pages in a database, tables and indexes, that reads it from its root to its first row, or
 * to its end. Tables are read with all their columns, because SQLite would answer from an index if it could.
 */
export function walksOf(sqlite: Database): string[] {
  const trees = sqlite
    .prepare<[], { kind: string; name: string; ofTable: string; sql: string | null }>(
      'SELECT type AS kind, name, tbl_name AS ofTable, sql FROM sqlite_schema WHERE rootpage > 0',
    )
    .all();
  const columnsOf = sqlite.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck();
  return trees.map(({ kind, name, ofTable, sql }) =>
    kind === 'index'
      ? `SELECT 1 FROM ${quoted(ofTable)} INDEXED BY ${quoted(name)}${conditionOf(sql)}`
      : `SELECT ${columnsOf.all(name).map(quoted).join(', ')} FROM ${quoted(name)} NOT INDEXED`,
  );
}

/** A partial index answers only a query with its own condition. */
const conditionOf = (sql: string | null): string => /\sWHERE\s[^]*$/i.exec(sql ?? '')?.[0] ?? '';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
