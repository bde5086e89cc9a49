/**
 * JSON as text: `JSON.parse` rounds integers beyond 2^53, and this API uses int64 values throughout. This module
 * changes only the whitespace between tokens.
 */

export type TokenKind = 'name' | 'string' | 'number' | 'word' | 'punctuation';

export interface Token {
  kind: TokenKind;
  text: string;
}

/** Deeper documents are unreadable, and their indentation would exceed their content many times over. */
const DEPTH_MAX = 100;

/** The tokens of a JSON text (RFC 8259 §2); undefined for invalid JSON or more than 100 levels. */
export function readTokens(text: string): Token[] | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const texts = text.match(TOKEN) ?? [];
  if (depthOf(texts) > DEPTH_MAX) return undefined;
  return texts.map((token, index) => ({ kind: kindOf(token, texts[index + 1]), text: token }));
}

/**
 * The tokens of a truncated JSON text up to its last comma, because the rest may be incomplete; undefined if the text
 * does not begin as JSON.
 */
export function readTruncated(text: string): Token[] | undefined {
  const texts: string[] = [];
  const scanner = new RegExp(`\\s*(${TOKEN.source})`, 'y');
  for (let found = scanner.exec(text); found !== null; found = scanner.exec(text)) texts.push(found[1] ?? '');
  const whole = texts.slice(0, Math.max(0, texts.lastIndexOf(',')));
  const tokens = readTokens(whole.join('') + closingOf(whole));
  return tokens && [...tokens.slice(0, whole.length), { kind: 'punctuation', text: ',' }];
}

/** The brackets that close everything left open by some tokens. */
function closingOf(texts: readonly string[]): string {
  const closing: string[] = [];
  for (const text of texts) {
    if (text === '{') closing.push('}');
    else if (text === '[') closing.push(']');
    else if (text === '}' || text === ']') closing.pop();
  }
  return closing.toReversed().join('');
}

function depthOf(texts: readonly string[]): number {
  let depth = 0;
  let deepest = 0;
  for (const text of texts) {
    if (text === '{' || text === '[') deepest = Math.max(deepest, ++depth);
    else if (text === '}' || text === ']') depth -= 1;
  }
  return deepest;
}

/** Finds every token of a text that is known to be JSON, and nothing else. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

function kindOf(token: string, next: string | undefined): TokenKind {
  switch (token.charAt(0)) {
    case '"':
      return next === ':' ? 'name' : 'string';
    case 't':
    case 'f':
    case 'n':
      return 'word';
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
      return 'punctuation';
    default:
      return 'number';
  }
}

/** A line of formatted JSON: its depth, and its tokens with their trailing spaces. */
export interface Line {
  depth: number;
  tokens: Token[];
}

/** The tokens in lines, one member or element each; empty objects and arrays stay on one line. */
export function layOut(tokens: readonly Token[]): Line[] {
  const lines: Line[] = [];
  let depth = 0;
  let line: Token[] = [];
  const end = (): void => {
    if (line.length > 0) lines.push({ depth, tokens: line });
    line = [];
  };
  tokens.forEach((token, index) => {
    const previous = tokens[index - 1]?.text ?? '';
    const isClosing = token.text === '}' || token.text === ']';
    const isEmpty = isClosing && (previous === '{' || previous === '[');
    if (isClosing && !isEmpty) {
      end();
      depth -= 1;
    }
    if (token.kind !== 'punctuation' || !OPENING.includes(token.text)) {
      line.push(token.text === ':' ? { ...token, text: ': ' } : token);
      if (token.text === ',') end();
      return;
    }
    line.push(token);
    const next = tokens[index + 1]?.text ?? '';
    if (next === '}' || next === ']') return;
    end();
    depth += 1;
  });
  end();
  return lines;
}

const OPENING = ['{', '['];

/** A JSON text with line breaks and two spaces per level; unchanged if it is not JSON. */
export function prettyJson(text: string): string {
  const tokens = readTokens(text);
  return tokens === undefined ? text : textOf(layOut(tokens));
}

/** Lines as text, with two spaces per level. */
export const textOf = (lines: readonly Line[]): string =>
  lines.map(({ depth, tokens }) => '  '.repeat(depth) + tokens.map((token) => token.text).join('')).join('\n');

/** A JSON value whose integers beyond a double's precision are bigints. */
export type ExactValue = string | number | bigint | boolean | null | ExactValue[] | { [name: string]: ExactValue };

/** The value of a JSON text with exact integers; undefined if it is not JSON. */
export function readExactly(text: string): ExactValue | undefined {
  const tokens = readTokens(text);
  return tokens === undefined ? undefined : readValue({ tokens, at: 0 });
}

/** The reader's position. */
interface Cursor {
  tokens: readonly Token[];
  at: number;
}

function readValue(cursor: Cursor): ExactValue {
  const { kind, text } = next(cursor);
  if (kind === 'number') return exactNumber(text);
  if (text === '[') return readArray(cursor);
  if (text === '{') return readObject(cursor);
  return JSON.parse(text) as string | boolean | null;
}

function readArray(cursor: Cursor): ExactValue[] {
  const items: ExactValue[] = [];
  while (!skip(cursor, ']')) {
    items.push(readValue(cursor));
    skip(cursor, ',');
  }
  return items;
}

function readObject(cursor: Cursor): { [name: string]: ExactValue } {
  const members: [string, ExactValue][] = [];
  while (!skip(cursor, '}')) {
    const name = JSON.parse(next(cursor).text) as string;
    skip(cursor, ':');
    members.push([name, readValue(cursor)]);
    skip(cursor, ',');
  }
  // Unlike an assignment, this makes "__proto__" an ordinary member.
  return Object.fromEntries(members);
}

function next(cursor: Cursor): Token {
  const token = cursor.tokens[cursor.at];
  // The tokenizer has validated the text already.
  if (token === undefined) throw new Error('The JSON text ended within a value.');
  cursor.at += 1;
  return token;
}

function skip(cursor: Cursor, text: string): boolean {
  const found = cursor.tokens[cursor.at]?.text === text;
  if (found) cursor.at += 1;
  return found;
}

function exactNumber(literal: string): number | bigint {
  const value = Number(literal);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(literal) ? value : BigInt(literal);
}

/** A value as JSON text, bigints as digits. */
export function writeExactly(value: ExactValue): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeExactly).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeExactly(member)}`)
    .join(',')}}`;
}
