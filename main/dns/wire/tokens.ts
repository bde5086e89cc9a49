import { TTL_SECONDS_MAX } from './record.ts';
/** One word of a zone file or a record's value, escapes included. */
export interface Token {
  text: string;
  /** Quoted: text, never a keyword or `@`. */
  quoted: boolean;
}

/** One entry of a zone file: the words of a line, or of several lines in parentheses (RFC 1035 §5.1). */
export interface Entry {
  /** The line on which the entry begins, from 1. */
  line: number;
  /** The line begins with a blank: the owner is that of the previous entry. */
  indented: boolean;
  tokens: Token[];
  fault: string | null;
  /** Characters read for it, including those that an error skips. */
  characters: number;
}

/** Whether the entry is this directive, such as `$TTL`. */
export const isDirective = ({ fault, indented, tokens: [first] }: Entry, name: string): boolean =>
  fault === null && !indented && first?.quoted === false && first.text.toUpperCase() === name;

/** Maximum length of an entry: the largest RDATA (65,535 octets) with each octet as `\DDD`, and some more. */
const ENTRY_CHARACTERS_MAX = 300_000;

/** A piece of a word, which ends at an unescaped blank, parenthesis, quotation mark or comment. */
const WORD_PIECE = /[^\s;()"\\]+|\\[^\n]/y;

/**
 * Splits a zone file into entries, empty lines included. A syntax error ends its entry at the end of the line; parsing
 * continues after it.
 */
export function* readEntries(text: string): Generator<Entry> {
  let offset = 0;
  let line = 1;
  while (offset < text.length) {
    const reader = new EntryReader(text, offset, line);
    const entry = reader.read();
    offset = reader.offset;
    line = reader.line;
    yield entry;
  }
}

class EntryReader {
  offset: number;
  line: number;
  readonly #text: string;
  readonly #start: number;
  readonly #entry: Entry;
  #depth = 0;
  #furthest = 0;

  constructor(text: string, offset: number, line: number) {
    this.#text = text;
    this.#start = offset;
    this.offset = offset;
    this.line = line;
    this.#entry = { line, indented: /[ \t]/.test(text.charAt(offset)), tokens: [], fault: null, characters: 0 };
  }

  read(): Entry {
    const entry = this.#read();
    entry.characters = Math.max(this.#furthest, this.offset) - this.#start;
    return entry;
  }

  #read(): Entry {
    while (this.offset < this.#text.length) {
      if (this.offset - this.#start > ENTRY_CHARACTERS_MAX) return this.#fail('The entry is too long.');
      const character = this.#text.charAt(this.offset);
      if (character === '\n') {
        this.offset++;
        this.line++;
        if (this.#depth === 0) return this.#entry;
      } else if (character === ' ' || character === '\t' || character === '\r') this.offset++;
      else if (character === ';') this.offset = this.#endOfLine();
      else if (character === '(') {
        // Also catches a forgotten ")" at the next record with parentheses; nesting has no meaning.
        if (this.#depth > 0) return this.#fail('"(" is inside another "(": a ")" is missing.');
        this.#depth++;
        this.offset++;
      } else if (character === ')') {
        if (this.#depth === 0) return this.#fail('")" has no "(" before it.');
        this.#depth--;
        this.offset++;
      } else if (character === '"') {
        if (!this.#readQuoted()) return this.#fail('The closing quotation mark is missing.');
      } else this.#readWord();
    }
    if (this.offset - this.#start > ENTRY_CHARACTERS_MAX) return this.#fail('The entry is too long.');
    return this.#depth > 0 ? this.#fail('")" is missing: the "(" on this line is never closed.') : this.#entry;
  }

  #readQuoted(): boolean {
    const begin = this.offset + 1;
    for (let at = begin; at < this.#text.length; at++) {
      const character = this.#text.charAt(at);
      if (character === '\\') at++;
      else if (character === '\n') return false;
      else if (character === '"') {
        this.#entry.tokens.push({ text: this.#text.slice(begin, at), quoted: true });
        this.offset = at + 1;
        return true;
      }
    }
    return false;
  }

  #readWord(): void {
    const begin = this.offset;
    // Piece by piece: one expression for the whole would overflow its stack with millions of escapes.
    WORD_PIECE.lastIndex = begin;
    while (this.offset - this.#start <= ENTRY_CHARACTERS_MAX && WORD_PIECE.test(this.#text)) {
      this.offset = WORD_PIECE.lastIndex;
    }
    if (this.offset === begin) this.offset++;
    this.#entry.tokens.push({ text: this.#text.slice(begin, this.offset), quoted: false });
  }

  /** Drops the entry and continues at the next line. */
  #fail(message: string): Entry {
    this.#entry.fault = message;
    this.#furthest = this.offset;
    if (this.#depth > 0) {
      // Drops only the line with the "(", because one slip would otherwise hide all records after it.
      this.offset = this.#start;
      this.line = this.#entry.line;
    }
    this.offset = this.#endOfLine();
    if (this.offset < this.#text.length) {
      this.offset++;
      this.line++;
    }
    return this.#entry;
  }

  #endOfLine(): number {
    const end = this.#text.indexOf('\n', this.offset);
    return end < 0 ? this.#text.length : end;
  }
}

/** The words of a value given to `records.put`: one entry, with any line breaks. */
export function readTokens(text: string): { tokens: Token[] } | { fault: string } {
  const [first, second] = [...readEntries(text.replace(/[\r\n]+/g, ' '))].filter(isNotEmpty);
  if (first === undefined) return { tokens: [] };
  if (first.fault !== null) return { fault: first.fault };
  return second === undefined ? { tokens: first.tokens } : { fault: 'Only one record is allowed here.' };
}

const isNotEmpty = ({ tokens, fault }: Entry): boolean => tokens.length > 0 || fault !== null;

/** The maximum digits of a number in an owner or value; a label has at most 63 octets. */
const WIDTH_MAX = 63;

const RANGE = /^([0-9]{1,10})-([0-9]{1,10})(?:\/([0-9]{1,10}))?$/;

/** An escape, `$$`, `${offset,width,base}`, or `$` alone. */
const PLACEHOLDER = /\\.|\$\$|\$\{([^}]*)\}|\$/gs;
const MODIFIERS = /^(-?[0-9]{1,10})(?:,([0-9]{1,3})(?:,([doxXnN]))?)?$/;

/**
 * The entries that BIND's `$GENERATE range owner [TTL] [class] type value` expands to (BIND 9 ARM, "The $GENERATE
 * Directive"), each on the directive's line; any other entry unchanged. In the owner and the value, `$` is the number,
 * `${offset,width,base}` the number reformatted, and `\$` a dollar sign. Lazy, so the caller's limits apply.
 */
export function* expandEntry<Kind extends Entry>(entry: Kind): Generator<Kind, void, void> {
  if (!isDirective(entry, '$GENERATE')) return yield entry;
  const [, range, ...record] = entry.tokens;
  const match = RANGE.exec(range?.text ?? '');
  const [first, last, step] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3] ?? 1)];
  if (match === null || record.length < 3 || first > last || last > TTL_SECONDS_MAX || step < 1) {
    const fault =
      '$GENERATE takes a range such as 1-9 or 1-9/2, an owner, a type and a value: $GENERATE 1-9 host$ A 192.0.2.$';
    return yield { ...entry, fault };
  }
  let characters = entry.characters;
  for (let number = first; number <= last; number += step) {
    const tokens = record.map((token) => withNumber(token, number));
    const faulty = tokens.find((token) => token === null) === null;
    const length = tokens.reduce((sum, token) => sum + (token?.text.length ?? 0), 0);
    yield {
      ...entry,
      tokens: tokens.filter((token) => token !== null),
      fault: faulty
        ? '$GENERATE: "${offset,width,base}" needs numbers, a width up to 63, and d, o, x, X, n or N.'
        : null,
      characters: characters + length,
    };
    if (faulty) return;
    characters = 0;
  }
}

/** Null for a placeholder that is malformed. */
function withNumber({ text, quoted }: Token, number: number): Token | null {
  let malformed = false;
  const replaced = text.replace(PLACEHOLDER, (found: string, modifiers: string | undefined) => {
    if (found.startsWith('\\')) return found;
    if (found === '$$') return '\\$';
    const written = modifiers === undefined ? String(number) : modified(modifiers, number);
    malformed ||= written === null;
    return written ?? '';
  });
  return malformed ? null : { text: replaced, quoted };
}

function modified(modifiers: string, number: number): string | null {
  const match = MODIFIERS.exec(modifiers);
  const value = number + Number(match?.[1]);
  const width = Number(match?.[2] ?? 0);
  if (match === null || value < 0 || width > WIDTH_MAX) return null;
  switch (match[3]) {
    case 'o':
      return value.toString(8).padStart(width, '0');
    case 'x':
      return value.toString(16).padStart(width, '0');
    case 'X':
      return value.toString(16).toUpperCase().padStart(width, '0');
    case 'n':
      return nibbles(value, width);
    case 'N':
      return nibbles(value, width).toUpperCase();
    default:
      return String(value).padStart(width, '0');
  }
}

/** Hexadecimal digits in reverse order as labels, as in `ip6.arpa`; the width counts the dots too. */
function nibbles(value: number, width: number): string {
  const digits = [...value.toString(16)].reverse();
  while (digits.length * 2 - 1 < width) digits.push('0');
  return digits.join('.');
}
