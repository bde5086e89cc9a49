import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { codeOf, messageOf } from '../base/error-code.ts';

/** "VIVA": the PRAGMA application_id of every database made by Vivarium. Never changes. */
export const APPLICATION_ID = 0x56495641;

/** Up to this size every start checks all pages (5 ms per MiB); larger files only get the probe. */
export const FULL_CHECK_BYTES_MAX = 2 * 1024 * 1024;

/** In octets; 0 without a file. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Works on a database, and closes it then, whatever the work comes to; it may be asynchronous. */
export function closing<Result>(sqlite: Database, work: (opened: Database) => Result): Result {
  let isPending = false;
  try {
    const result = work(sqlite);
    if (!(result instanceof Promise)) return result;
    isPending = true;
    return result.finally(() => sqlite.close()) as Result;
  } finally {
    if (!isPending) sqlite.close();
  }
}

/** The header of a database file (sqlite.org/fileformat2.html, section 1.3): its length, first octets, and offsets. */
const HEADER_BYTES = 100;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
const AT = { pageBytes: 16, pageCount: 28, schema: 60, applicationId: 68 };

/** The value of `pageBytes` for the one size that does not fit into its field. */
const LARGEST_PAGE = { written: 1, bytes: 65_536 };

/** What the first octets of a file say; the numbers are null in a file that is shorter than a header. */
export interface Header {
  hasMagic: boolean;
  id: number | null;
  schema: number | null;
  /** The size of all pages. */
  bytes: number;
}

export function readHeader(file: string): Header {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, 'r');
  try {
    const isWhole = readSync(descriptor, header, 0, HEADER_BYTES, 0) === HEADER_BYTES;
    const written = header.readUInt16BE(AT.pageBytes);
    const pageBytes = written === LARGEST_PAGE.written ? LARGEST_PAGE.bytes : written;
    return {
      hasMagic: header.subarray(0, MAGIC.length).equals(MAGIC),
      id: isWhole ? header.readUInt32BE(AT.applicationId) : null,
      schema: isWhole ? header.readUInt32BE(AT.schema) : null,
      bytes: pageBytes * header.readUInt32BE(AT.pageCount),
    };
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
