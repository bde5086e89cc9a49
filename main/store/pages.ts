import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { codeOf, messageOf } from '../base/error-code.ts';

/** "VIVA": the PRAGMA application_id of every database made by Vivarium. Never changes. */
export const APPLICATION_ID = 0x56495641;

/** Up to this size every start checks all pages (5 ms per MiB); larger files only get the probe. */
export const FULL_CHECK_BYTES_MAX = 2 * 1024 * 1024;

/**
 * The database header (sqlite.org/fileformat2.html, section 1.3): its length, first bytes, and the offset of the id.
 */
export const HEADER_BYTES = 100;
export const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
export const APPLICATION_ID_OFFSET = 68;

/** In octets; 0 without a file. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The first bytes of a file: fewer than a whole header when it is shorter. */
export function readHeader(file: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    return header.subarray(0, readSync(descriptor, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** The first finding of SQLite's check of all pages, in one line; null without one. */
export function pageFault(sqlite: Database, check: 'quick_check' | 'integrity_check'): string | null {
  const finding = String(sqlite.pragma(`${check}(1)`, { simple: true }));
  return finding === 'ok' ? null : finding.replaceAll('\n', ' ');
}

/** Whether a finding of SQLite's check is a value that its column does not allow, in pages without damage. */
export const isAboutValue = (finding: string): boolean =>
  /^(?:CHECK constraint failed|NULL value|(?:non-)?[A-Z]+ value) in /.test(finding);

/**
 * One SELECT for each B-tree of a database, tables and indexes, that reads up to its first row or to its end. Selects
 * all columns of tables, because SQLite would otherwise read an index if it could.
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

/** SQLite uses a partial index only for queries with its condition. */
const conditionOf = (sql: string | null): string => /\sWHERE\s[^]*$/i.exec(sql ?? '')?.[0] ?? '';

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** SQLite's description of a damaged file; null for any other error. */
export function damageOf(error: unknown): string | null {
  const code = codeOf(error);
  return code !== null && /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? `SQLite says "${messageOf(error)}" (${code})` : null;
}
