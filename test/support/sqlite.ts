import Sqlite from 'better-sqlite3';

/** What `work` returns from a database file, which is closed again. */
export function inDatabase<Result>(
  file: string,
  work: (sqlite: Sqlite.Database) => Result,
  options: Sqlite.Options = {},
): Result {
  const sqlite = new Sqlite(file, options);
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

export const runIn = (file: string, ...statements: string[]): void =>
  inDatabase(file, (sqlite) => statements.forEach((sql) => sqlite.exec(sql)));

/** The first value that a query finds. */
export const valueIn = (file: string, sql: string): unknown =>
  inDatabase(file, (sqlite) => sqlite.prepare(sql).pluck().get(), { readonly: true });

/** Every row of every table but those that `left` matches, without the serials of zones, which count changes. */
export function rowsIn(file: string, left: RegExp): Record<string, unknown[]> {
  const tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
  const read = (sqlite: Sqlite.Database) => {
    const names = sqlite.prepare<[], string>(tables).pluck().all();
    const kept = names.filter((name) => !left.test(name));
    return kept.map((name) => {
      const rows = sqlite.prepare<[], { serial?: bigint }>(`SELECT * FROM "${name}"`).safeIntegers().all();
      return [name, rows.map(({ serial: _, ...row }) => row)] as const;
    });
  };
  return Object.fromEntries(inDatabase(file, read, { readonly: true }));
}
