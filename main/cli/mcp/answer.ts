import { replaceMentions } from '../../contract/mentions.ts';
import { createRedactor } from '../../traffic/redact.ts';
import { HIDDEN } from '../../traffic/secret-names.ts';

/** The longest answer, in bytes of UTF-8: about 2,500 tokens. */
export const ANSWER_BYTES_MAX = 8_000;

/** Limits of list items and text characters, tried in turn until an answer is short enough. */
const CUTS: readonly (readonly [items: number, characters: number])[] = [
  [100, 4_000],
  [50, 2_000],
  [30, 1_000],
  [20, 1_000],
  [12, 500],
  [6, 500],
  [3, 200],
  [1, 100],
];

/** An answer's text, and the number of items that it contains. */
export interface Fitted {
  text: string;
  /** The number of items left in a shortened list; null if the answer is whole or was shortened elsewhere. */
  shown: number | null;
  isCut: boolean;
}

/** The JSON text of a value in at most `bytesMax` bytes, with counts instead of omitted parts. */
export function fit(value: unknown, bytesMax: number): Fitted {
  const whole = JSON.stringify(value);
  if (Buffer.byteLength(whole) <= bytesMax) return { text: whole, shown: null, isCut: false };
  for (const [items, characters] of CUTS) {
    const text = JSON.stringify(cut(value, items, characters));
    if (Buffer.byteLength(text) <= bytesMax) return { text, shown: shownOf(value, items), isCut: true };
  }
  // The value has many short properties.
  return {
    text: Buffer.from(whole)
      .toString('utf8', 0, bytesMax)
      .replace(/\uFFFD$/, ''),
    shown: null,
    isCut: true,
  };
}

function shownOf(value: unknown, items: number): number | null {
  const list = typeof value === 'object' && value !== null && 'items' in value ? value.items : null;
  return Array.isArray(list) && list.length > items ? items : null;
}

function cut(value: unknown, items: number, characters: number): unknown {
  if (typeof value === 'string') {
    const left = value.length - characters;
    return left > 0 ? `${value.slice(0, characters)}… (${left} more characters)` : value;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((item) => cut(item, items, characters));
    return value.length > items ? [...kept, `… (${value.length - items} more)`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part, items, characters)]));
}

/** Renders a call of a procedure for the reader; null leaves it unchanged. */
export type Rename = (procedure: string, input: Record<string, unknown>) => string | null;

/** Renders the calls in messages as tools or command lines. */
export function inTools(text: string, rename: Rename): string {
  return replaceMentions(text, ({ namespace, procedure, input }) => rename(`${namespace}.${procedure}`, input));
}

/** Renders the calls in every text of a value. */
export function allInTools(value: unknown, rename: Rename): unknown {
  if (typeof value === 'string') return inTools(value, rename);
  if (Array.isArray(value)) return value.map((item) => allInTools(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, allInTools(part, rename)]));
}

/**
 * Removes secrets from a text, by the same table as Traffic: header fields, parameters and JSON members by name, and
 * anything that has the form of a secret. `own`: additional names set by the user.
 */
export const withoutSecrets = (text: string, own: readonly string[]): string =>
  // A shortened secret still looks like one.
  createRedactor(own).body(text).replaceAll(`${HIDDEN}${HIDDEN}`, HIDDEN);
