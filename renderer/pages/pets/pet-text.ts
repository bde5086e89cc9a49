import { ALL_FIELDS, PET_FIELDS, REQUIRED_FIELDS, titlesOf } from '../../../main/contract/pet-fields.ts';
import type { ImportColumns, ImportDelimiter, ImportFormat, PetRecord } from '../../../main/contract/pets.ts';
import type { PetFilter } from './pet-filter.ts';

/** How the engine reads a text; it detects omitted values. */
export interface ImportForm {
  format: ImportFormat;
  delimiter?: ImportDelimiter;
  columns?: ImportColumns;
}

/** How rows are written: TSV is what spreadsheets copy, NDJSON has a pet on each line. */
export type RowFormat = 'tsv' | 'csv' | 'json' | 'ndjson';

interface RowWriter {
  begin: string;
  row: (pet: PetRecord) => string;
  between: string;
  end: string;
}

/** As JSON numbers, int64 stays exact: the import and the API read them so. */
const asJson = (pet: PetRecord): string => {
  const members = ALL_FIELDS.map(
    (field) => `"${field}":${PET_FIELDS[field].kind === 'int64' ? pet[field] : JSON.stringify(pet[field])}`,
  );
  return `{${members.join(',')}}`;
};

/** A cell as CSV writes it (RFC 4180); the same with tabs. */
const cellOf = (text: string, separator: string): string =>
  /["\r\n]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text;

const separated = (separator: string): RowWriter => ({
  begin: `${ALL_FIELDS.join(separator)}\n`,
  row: (pet) => ALL_FIELDS.map((field) => cellOf(pet[field], separator)).join(separator),
  between: '\n',
  end: '\n',
});

const WRITERS: Record<RowFormat, RowWriter> = {
  tsv: separated('\t'),
  csv: separated(','),
  json: { begin: '[\n', row: asJson, between: ',\n', end: '\n]\n' },
  ndjson: { begin: '', row: asJson, between: '\n', end: '\n' },
};

/** Writes rows in parts, which are one text when joined. */
export function createRowText(format: RowFormat): { add(pets: readonly PetRecord[]): string; end(): string } {
  const { begin, row, between, end } = WRITERS[format];
  let begun = false;
  return {
    add(pets) {
      if (pets.length === 0) return '';
      const before = begun ? between : begin;
      begun = true;
      return before + pets.map(row).join(between);
    },
    end: () => (begun ? end : begin + end.trimStart()),
  };
}

export function rowText(pets: readonly PetRecord[], format: RowFormat): string {
  const text = createRowText(format);
  return text.add(pets) + text.end();
}

/** Pets in the order of a list. Names are compared as the engine does: in upper case and composed. */
export function inListOrder(pets: readonly PetRecord[], { sort, descending }: PetFilter): PetRecord[] {
  const keyOf = (pet: PetRecord): bigint | string => {
    if (PET_FIELDS[sort].kind === 'int64') return BigInt(pet[sort]);
    return sort === 'name' ? pet.name.toUpperCase().normalize('NFC') : pet[sort];
  };
  const keyed = pets.map((pet) => ({ pet, key: keyOf(pet), id: BigInt(pet.id) }));
  const compare = (one: bigint | string, other: bigint | string): number => (one < other ? -1 : one > other ? 1 : 0);
  keyed.sort((one, other) => (compare(one.key, other.key) || compare(one.id, other.id)) * (descending ? -1 : 1));
  return keyed.map(({ pet }) => pet);
}

/** A pasted text: whole rows to add, or cells that overwrite others. */
export type Pasted = { kind: 'rows'; text: string; form: ImportForm } | { kind: 'cells'; cells: string[][] };

const DELIMITERS: readonly (readonly [string, ImportDelimiter])[] = [
  ['\t', 'tab'],
  [';', 'semicolon'],
  [',', 'comma'],
];

/** Pasted rows are added as copies with new ids. */
const WITHOUT_IDS = { id: '' };

/** JSON, or a header line with the required fields, makes rows; anything else is cells separated by tabs. */
export function readPasted(text: string): Pasted {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    // One object, or one on each line: no JSON string has a line break in it.
    const array = trimmed.startsWith('[') ? trimmed : `[${trimmed.replaceAll(/\}\s*\n\s*\{/g, '},\n{')}]`;
    return { kind: 'rows', text: array, form: { format: 'json', columns: WITHOUT_IDS } };
  }
  const [header = ''] = text.split(/[\r\n]/, 1);
  for (const [separator, delimiter] of DELIMITERS) {
    const titles = header.split(separator).map((title) => title.trim().replaceAll('"', '').toLowerCase());
    if (REQUIRED_FIELDS.every((field) => titlesOf(field).some((title) => titles.includes(title)))) {
      return { kind: 'rows', text, form: { format: 'csv', delimiter, columns: WITHOUT_IDS } };
    }
  }
  return { kind: 'cells', cells: readCells(text) };
}

/** The cells of a text as spreadsheets copy it: separated by tabs, quoted where they have tabs or line breaks. */
function readCells(text: string): string[][] {
  const rows: string[][] = [[]];
  let mayClose = true;
  for (let at = 0; ;) {
    const close = mayClose && text.charAt(at) === '"' ? closingQuote(text, at) : undefined;
    if (close === -1) mayClose = false;
    const isQuoted = close !== undefined && close > 0 && /^[\t\r\n]?$/.test(text.charAt(close + 1));
    const end = isQuoted ? close + 1 : endOfCell(text, at);
    rows.at(-1)?.push(isQuoted ? text.slice(at + 1, close).replaceAll('""', '"') : text.slice(at, end));
    if (end >= text.length) return rows;
    at = end + (text.startsWith('\r\n', end) ? 2 : 1);
    if (text.charAt(end) === '\t') continue;
    if (at >= text.length) return rows;
    rows.push([]);
  }
}

function endOfCell(text: string, from: number): number {
  let end = from;
  while (end < text.length && !'\t\r\n'.includes(text.charAt(end))) end++;
  return end;
}

/** The quote that closes the one at `from`, past doubled ones; -1 without one. */
function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote >= 0 && text.charAt(quote + 1) === '"') quote = text.indexOf('"', quote + 2);
  return quote;
}
