import { nestsDeeper } from '../../../main/base/text/exact-json.ts';

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
  if (nestsDeeper(text, DEPTH_MAX)) return undefined;
  const texts = text.match(TOKEN) ?? [];
  return texts.map((token, index) => ({ kind: kindOf(token, texts[index + 1]), text: token }));
}

/** Finds every token of a text that is known to be JSON, and nothing else. */
export const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

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
