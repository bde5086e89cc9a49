import { z } from 'zod';
import { codeOf } from '../../base/error-code.ts';
import type { VivariumError } from '../../contract/errors.ts';
import { summarizeIssues, toInputIssues } from '../../contract/issues.ts';

/** What a column holds, and how a row object has it; a schema alone for a value that it has as it is. */
type Column<Held> = z.ZodType<Held> | Converted<Held>;

interface Converted<Held> {
  schema: z.ZodType<Held>;
  /** Reads a stored value, not necessarily a valid one. */
  decode?: (stored: string | null) => unknown;
  encode?: (held: unknown) => unknown;
  /** The column's name, unless it is that of the property in snake case. */
  name?: string;
}

export const json = <Held>(schema: z.ZodType<Held>): Converted<Held> => ({
  schema,
  // Without a text, JSON.parse would read null.
  decode: (stored) => JSON.parse(stored ?? ''),
  encode: JSON.stringify,
});
export const nullableJson = <Held>(schema: z.ZodType<Held>): Converted<Held | null> => ({
  schema: schema.nullable(),
  decode: (stored) => JSON.parse(stored ?? 'null'),
  encode: (held) => (held === null ? null : JSON.stringify(held)),
});
export const flag: Converted<boolean> = {
  schema: z.boolean(),
  decode: (stored: unknown) => (stored === 0 || stored === 1 ? stored === 1 : stored),
  encode: Number,
};

/** A number of rows or events, or the place of a row. */
export const count = z.int().min(0);

/** A row as better-sqlite3 returns and takes it. */
export type Stored = Record<string, unknown>;

/** Writes a row; an error about a constraint becomes what `faults` makes of it. */
export function writeOr(
  faults: Partial<Record<'FOREIGNKEY' | 'UNIQUE', (cause: Error) => VivariumError>>,
  write: () => void,
): void {
  try {
    write();
  } catch (error) {
    const kind = /^SQLITE_CONSTRAINT_(FOREIGNKEY|UNIQUE)$/.exec(codeOf(error) ?? '')?.[1] as keyof typeof faults;
    throw faults[kind]?.(error as Error) ?? error;
  }
}

export type RowOf<Of> = Of extends { read(stored: Stored): infer Row } ? Row : never;

/**
 * The one description of a table: its aggregate reads and writes rows by it, and a check finds rows that the aggregate
 * could not read.
 * @param by the columns that name a row; their values are unique
 */
export function table<Row extends object>(
  name: string,
  by: readonly string[],
  row: { [Property in keyof Row]: Column<Row[Property]> },
  /** Columns that no row object has. */
  others: Record<string, Column<unknown>> = {},
  /** A fault in how columns relate. */
  rule: (row: Row) => string | null = () => null,
) {
  const own = columnsOf(row);
  const all = [...own, ...columnsOf(others)];
  const parameters = own.map(({ property }) => `:${property}`).join(', ');
  return {
    name,
    by,
    /** The columns of a row object under the names of its properties, for SELECT and RETURNING. */
    selected: own.map(({ column, property }) => `${column} AS "${property}"`).join(', '),
    /** The columns of a row object and their parameters, for INSERT INTO. */
    inserted: `(${own.map(({ column }) => column).join(', ')}) VALUES (${parameters})`,
    /** The parameters alone. */
    parameters,
    columns: all.map(({ column }) => column),
    /** Converts a selected row in place. */
    read(stored: Stored): Row {
      for (const { property, decode } of own) {
        if (decode !== undefined) stored[property] = decode(stored[property] as string);
      }
      return stored as Row;
    },
    /** The parameters of a row. */
    write(held: Row): Stored {
      const stored = { ...held } as Stored;
      for (const { property, encode } of own) if (encode !== undefined) stored[property] = encode(stored[property]);
      return stored;
    },
    /** The first column whose value is not allowed, and what is allowed; null for a row that can be read. */
    fault(stored: Stored): string | null {
      const held: Stored = {};
      for (const { property, column, decode, schema } of all) {
        const value = stored[column];
        try {
          held[property] = decode === undefined ? value : decode(value as string);
        } catch {
          return `${column} must be JSON.`;
        }
        const issues = schema.safeParse(held[property]).error?.issues.map((issue) => ({
          ...issue,
          path: [column, ...issue.path],
        }));
        if (issues !== undefined) return summarizeIssues(toInputIssues(issues, { [column]: held[property] }));
      }
      return rule(held as Row);
    },
  };
}

const columnsOf = (columns: Record<string, Column<unknown>>) =>
  Object.entries(columns).map(([property, described]) => {
    const converted: Converted<unknown> = described instanceof z.ZodType ? { schema: described } : described;
    const { name = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) } = converted;
    return { ...converted, property, column: name };
  });
