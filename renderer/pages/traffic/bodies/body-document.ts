import type { TokenKind } from '../../../shared/traffic/json-text.ts';

/** The colour of a piece; `note`: added for the reader, not a part of the body. */
export type PieceKind = TokenKind | 'plain' | 'note';

/** A piece of a row in one colour. */
export interface Piece {
  kind: PieceKind;
  text: string;
  /** Its position in the searched text; absent if it is not part of it. */
  from?: number;
  /** Shows a single position, however long it is: a byte as two digits. */
  whole?: true;
}

/** A row on the page: a range of the searched text. Long lines take several rows. */
export interface BodyRow {
  from: number;
  to: number;
  depth: number;
  /** For a row that can be folded: the line that folds, and whether it is folded. */
  fold?: { line: number; folded: boolean };
}

export interface Match {
  from: number;
  to: number;
}

/** A body as rows to read, fold and search. Pieces are made when a row is drawn. */
export interface BodyDocument {
  length: number;
  /** The rows to show; `folded` contains line numbers. */
  rows(folded: readonly number[]): BodyRow[];
  pieces(row: BodyRow): Piece[];
  /** Ignores case; at most `MATCHES_MAX`. */
  find(query: string): Match[];
  /** The lines that can be folded around a position; all of them without one. */
  folds(position?: number): number[];
}

/** A line of text in coloured pieces, and how deeply it is indented. */
export interface DocumentLine {
  depth: number;
  tokens: readonly { kind: PieceKind; text: string }[];
}

/** Longer lines are broken into rows, because the browser lays a row out at once. */
export const ROW_LENGTH_MAX = 2_000;

export const MATCHES_MAX = 10_000;

/** Plain text as a document, whatever ends its lines. */
export function textDocument(body: string): BodyDocument {
  const text = body.replaceAll(/\r\n?/g, '\n');
  return {
    length: text.length,
    rows() {
      const made: BodyRow[] = [];
      for (let from = 0; from <= text.length;) {
        const end = text.indexOf('\n', from);
        const to = end < 0 ? text.length : end;
        addRows(made, text, from, to, 0);
        from = to + 1;
      }
      return made;
    },
    pieces: ({ from, to }) => (from === to ? [] : [{ kind: 'plain', text: text.slice(from, to), from }]),
    find: (query) => findIn(text, new RegExp(escaped(query), 'giu')),
    folds: () => [],
  };
}

/** Breaks a line into rows. Both halves of a character stay in one. */
function addRows(rows: BodyRow[], text: string, from: number, to: number, depth: number): void {
  // The usual case, and a body can have 65,537 lines.
  if (to - from <= ROW_LENGTH_MAX) {
    rows.push({ from, to, depth });
    return;
  }
  for (let at = from; at === from || at < to;) {
    const end = Math.min(to, at + ROW_LENGTH_MAX);
    const next = end < to && /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
    rows.push({ from: at, to: next, depth });
    at = Math.max(next, from + 1);
  }
}

/** Lines as a document; a line that ends with an opening bracket folds up to the one that closes it. */
export function linesDocument(lines: readonly DocumentLine[]): BodyDocument {
  const texts = lines.map(({ tokens }) => tokens.map(({ text }) => text).join(''));
  const text = texts.join('\n');
  const starts: number[] = [];
  texts.reduce((at, line) => (starts.push(at), at + line.length + 1), 0);
  const ends = endsOf(lines);
  const startOf = (line: number): number => starts[line] ?? 0;
  const endOf = (line: number): number => ends[line] ?? 0;

  const piecesOf = (line: number): Piece[] => {
    let at = startOf(line);
    return (lines[line]?.tokens ?? []).map((token) => {
      const piece = { ...token, from: at };
      at += token.text.length;
      return piece;
    });
  };

  function rows(foldedLines: readonly number[]): BodyRow[] {
    const folded = new Set(foldedLines);
    const made: BodyRow[] = [];
    for (let line = 0; line < lines.length; line++) {
      const from = startOf(line);
      const to = from + (texts[line]?.length ?? 0);
      const end = endOf(line);
      const isFolded = end > 0 && folded.has(line);
      const depth = lines[line]?.depth ?? 0;
      const first = made.length;
      addRows(made, text, from, to, depth);
      const row = made[first];
      if (row !== undefined && end > 0) row.fold = { line, folded: isFolded };
      if (isFolded) line = end;
    }
    return made;
  }

  return {
    length: text.length,
    rows,
    pieces(row) {
      const pieces = cut(piecesOf(lineAt(starts, row.from)), row);
      const { fold } = row;
      if (fold?.folded !== true) return pieces;
      const end = endOf(fold.line);
      return [...pieces, { kind: 'note', text: ` ${membersOf(lines, fold.line, end)} ` }, ...piecesOf(end)];
    },
    find: (query) => findIn(text, new RegExp(escaped(query), 'giu')),
    folds(position) {
      const all = [...ends.keys()].filter((line) => endOf(line) > 0);
      if (position === undefined) return all;
      const line = lineAt(starts, position);
      return all.filter((opening) => opening < line && line < endOf(opening));
    },
  };
}

/** The number of members within a folded bracket, in words. */
function membersOf(lines: readonly DocumentLine[], opening: number, end: number): string {
  const depth = (lines[opening]?.depth ?? 0) + 1;
  const count = lines.slice(opening + 1, end).filter((line) => line.depth === depth && !closes(line)).length;
  const noun = lines[opening]?.tokens.at(-1)?.text === '[' ? 'item' : 'member';
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const closes = ({ tokens: [first] }: DocumentLine): boolean =>
  first?.kind === 'punctuation' && /^[\]}]/.test(first.text);

/** For each line that opens a bracket, the line that closes it; 0 for the others. */
function endsOf(lines: readonly DocumentLine[]): Int32Array {
  const ends = new Int32Array(lines.length);
  const open: number[] = [];
  lines.forEach((each, line) => {
    const last = each.tokens.at(-1);
    if (closes(each)) {
      const opening = open.pop();
      if (opening !== undefined) ends[opening] = line;
    }
    if (last?.kind === 'punctuation' && /^[[{]$/.test(last.text)) open.push(line);
  });
  return ends;
}

/** The last of some ascending positions that is not after `position`. */
export function lineAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The parts of pieces within a range. */
function cut(pieces: readonly Piece[], { from, to }: Match): Piece[] {
  return pieces.flatMap((piece) => {
    const start = piece.from ?? 0;
    const text = piece.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === '' ? [] : [{ ...piece, text, from: Math.max(start, from) }];
  });
}

function findIn(text: string, pattern: RegExp): Match[] {
  const found: Match[] = [];
  for (const { 0: whole, index } of text.matchAll(pattern)) {
    found.push({ from: index, to: index + whole.length });
    if (found.length === MATCHES_MAX) break;
  }
  return found;
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Bytes as a document: their position, their digits, and their ASCII characters, `perRow` in a row. */
export function hexDocument(bytes: Uint8Array, perRow: number): BodyDocument {
  const text = latin1(bytes);
  const digits = Math.max(4, bytes.length.toString(16).length);
  return {
    length: bytes.length,
    rows: () =>
      Array.from({ length: Math.ceil(bytes.length / perRow) }, (_, index) => ({
        from: index * perRow,
        to: Math.min(bytes.length, (index + 1) * perRow),
        depth: 0,
      })),
    pieces({ from, to }) {
      const row = [...bytes.subarray(from, to)];
      return [
        { kind: 'note', text: `${from.toString(16).padStart(digits, '0')}  ` },
        ...row.map((byte, index): Piece => ({ kind: 'plain', text: hex(byte), from: from + index, whole: true })),
        { kind: 'note', text: '   '.repeat(perRow - row.length + 1).slice(1) },
        ...row.map((byte, index): Piece => ({ kind: 'string', text: visible(byte), from: from + index, whole: true })),
      ];
    },
    /** Pairs of hexadecimal digits are bytes, other queries text in UTF-8. */
    find(query) {
      if (/^\s*[0-9a-f]{2}(?:\s+[0-9a-f]{2})*\s*$/i.test(query)) {
        const wanted = query.trim().split(/\s+/);
        return findIn(text, new RegExp(wanted.map((pair) => `\\x${pair}`).join(''), 'g'));
      }
      // Only ASCII letters have two cases here: the flag would mix up the bytes of others.
      const wanted = escaped(latin1(new TextEncoder().encode(query)));
      const eitherCase = (letter: string): string => `[${letter.toLowerCase()}${letter.toUpperCase()}]`;
      return findIn(text, new RegExp(wanted.replaceAll(/[a-z]/gi, eitherCase), 'g'));
    },
    folds: () => [],
  };
}

export const dumpOf = (document: BodyDocument): string =>
  document
    .rows([])
    .map((row) =>
      document
        .pieces(row)
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');

/** Bytes as characters of the same numbers. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  // In parts: a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return text;
}

const hex = (byte: number): string => `${byte.toString(16).padStart(2, '0')} `;
const visible = (byte: number): string => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

export interface MarkedPiece {
  kind: PieceKind;
  text: string;
  mark: 'none' | 'found' | 'current';
}

/** Pieces with the matches in them marked. `matches`: ascending, without overlaps. */
export function markPieces(pieces: readonly Piece[], matches: readonly Match[], current: number): MarkedPiece[] {
  if (matches.length === 0) return pieces.map(({ kind, text }) => ({ kind, text, mark: 'none' }));
  const starts = matches.map(({ from }) => from);
  return pieces.flatMap((piece) => {
    const { kind, text, from, whole } = piece;
    if (from === undefined) return [{ kind, text, mark: 'none' }];
    const to = from + (whole === true ? 1 : text.length);
    const made: MarkedPiece[] = [];
    let at = from;
    const add = (end: number, mark: MarkedPiece['mark']): void => {
      if (end > at) made.push({ kind, text: whole === true ? text : text.slice(at - from, end - from), mark });
      at = Math.max(at, end);
    };
    for (let index = lineAt(starts, from); index < matches.length; index++) {
      const match = matches[index];
      if (match === undefined || match.from >= to) break;
      if (match.to <= from) continue;
      add(Math.min(match.from, to), 'none');
      add(Math.min(match.to, to), index === current ? 'current' : 'found');
    }
    add(to, 'none');
    return made;
  });
}
