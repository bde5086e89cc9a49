/** A JSON value with every integer as a bigint, exact at any size. */
export type ExactJson = string | number | bigint | boolean | null | ExactJson[] | { [key: string]: ExactJson };

/** Whether it is a JSON object. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Longer integers remain numbers: they are far beyond int64, and exact values would only cost memory. */
const INTEGER_DIGITS_MAX = 40;

/** Deeper than any sensible document; a reviver recurses, and becomes slow near the stack limit. */
const DEPTH_MAX = 256;

/**
 * `JSON.parse` without rounding: `9007199254740993` becomes `9007199254740993n`, and so do `1.0` and `1e3`, which JSON
 * Schema also treats as integers. Fractions remain numbers.
 * @throws SyntaxError like `JSON.parse`, and if the text nests deeper than 256 levels.
 */
export function parseExactJson(text: string): ExactJson {
  if (nestsDeeper(text, DEPTH_MAX)) throw new SyntaxError(`JSON nests deeper than ${DEPTH_MAX} levels`);
  if (!NEEDS_LITERALS.test(text)) return withBigints(JSON.parse(text) as ExactJson);
  return parseNumbers(text, (literal, value) => exactInteger(literal) ?? value);
}

/** `JSON.parse` with the number literals read by `convert`, which also gets the rounded value. */
export const parseNumbers = (text: string, convert: (literal: string, value: number) => number | bigint): ExactJson =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? convert(context?.source ?? String(value), value) : value,
  ) as ExactJson;

/**
 * Without fractions, exponents or long digit runs, doubles hold all integers exactly, and the reviver, which costs
 * microseconds per value, is not needed. Digits inside strings may match, too; this costs only speed.
 */
const NEEDS_LITERALS = /\d{16}|\d[.eE]/;

/** Converts the numbers of a parsed value to bigints, in place. */
function withBigints(value: ExactJson): ExactJson {
  if (typeof value === 'number') return BigInt(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = withBigints(value[index] as ExactJson);
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      const member = withBigints(value[key] as ExactJson);
      // Assigning to this name would set the prototype; the parser created an ordinary member.
      if (key === '__proto__') Object.defineProperty(value, key, { ...ORDINARY, value: member });
      else value[key] = member;
    }
  }
  return value;
}

const ORDINARY = { configurable: true, enumerable: true, writable: true } as const;

/** The integer value of a JSON number literal; null for a fraction or an absurdly long literal. */
export function exactInteger(literal: string): bigint | null {
  const match = NUMBER.exec(literal);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  const digits = whole + fraction;
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return 0n;
  const scale = exponent - fraction.length;
  if (significant.length + Math.max(scale, 0) > INTEGER_DIGITS_MAX) return null;
  if (scale >= 0) return BigInt(sign + significant + '0'.repeat(scale));
  if (-scale >= significant.length && /[1-9]/.test(significant)) return null;
  const cut = significant.length + scale;
  return /^0*$/.test(significant.slice(cut)) ? BigInt(sign + significant.slice(0, cut)) : null;
}

/** Whether brackets and braces are nested deeper than `max` levels. */
export function nestsDeeper(text: string, max: number): boolean {
  if (text.length < 2 * max) return false;
  const structure = new JsonStructure();
  for (let at = structure.next(text, 0); at >= 0; at = structure.next(text, at + 1)) {
    if (structure.depth > max) return true;
  }
  return false;
}

/**
 * Finds the structural characters of JSON text: brackets, braces, commas and colons outside strings. The text may
 * arrive in pieces and is not validated; invalid text yields arbitrary positions, but the search always terminates.
 */
export class JsonStructure {
  /** How many brackets and braces are open after the last character found. */
  depth = 0;
  #inString = false;
  /** Whether the previous character, inside a string, was a backslash. */
  #escaped = false;

  /** The index of the next structural character in `piece` at or after `from`, or -1. Search all of a text in order. */
  next(piece: string, from: number): number {
    for (let index = from; index < piece.length; index++) {
      const unit = piece.charCodeAt(index);
      if (this.#escaped) this.#escaped = false;
      else if (unit === QUOTE) this.#inString = !this.#inString;
      else if (this.#inString) this.#escaped = unit === BACKSLASH;
      else if (unit === COMMA || unit === COLON) return index;
      else if (opens(unit)) {
        this.depth++;
        return index;
      } else if (closes(unit)) {
        this.depth = Math.max(0, this.depth - 1);
        return index;
      }
    }
    return -1;
  }
}

/**
 * Finds the elements of one array in JSON text that arrives in pieces. Brackets and quotes delimit the elements, so a
 * malformed one does not affect the others, and memory use is bounded by the longest element.
 */
export class JsonElements {
  state: 'outside' | 'inside' | 'after' = 'outside';
  /** The text of the element that has begun, or since the last structural character outside; after it, the rest. */
  begun = '';
  #structure = new JsonStructure();
  /** The name literals on the way to the position, and to the array. */
  readonly #names: string[] = [];
  readonly #path: readonly string[];

  /** @param path the names of the array's member and of those around it, outermost first; none for the root */
  constructor(path: readonly string[] = []) {
    this.#path = path.map((name) => JSON.stringify(name));
  }

  /** The texts of the elements that end in this piece; of `[]`, an empty one. */
  read(piece: string): string[] {
    const found: string[] = [];
    let from = 0;
    let at = -1;
    while (this.state !== 'after') {
      const { depth } = this.#structure;
      at = this.#structure.next(piece, at + 1);
      if (at < 0) break;
      const unit = piece.charCodeAt(at);
      if (this.state === 'inside' && (depth > 0 || (unit !== COMMA && unit !== CLOSE_BRACKET))) continue;
      const text = this.begun + piece.slice(from, at);
      this.begun = '';
      from = at + 1;
      if (this.state === 'outside') this.#walk(unit, text, depth);
      else found.push(text);
      if (unit === CLOSE_BRACKET && this.state === 'inside') this.state = 'after';
    }
    this.begun = (this.state === 'after' ? '' : this.begun) + piece.slice(from);
    return found;
  }

  #walk(unit: number, text: string, depth: number): void {
    if (unit === COLON && depth <= this.#path.length) this.#names[depth - 1] = text.trim();
    if (unit !== OPEN_BRACKET || depth !== this.#path.length || this.#names.join() !== this.#path.join()) return;
    this.state = 'inside';
    this.#structure = new JsonStructure();
  }
}

export const COMMA = 0x2c;
export const COLON = 0x3a;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export const opens = (unit: number): boolean => unit === OPEN_BRACKET || unit === OPEN_BRACE;
export const closes = (unit: number): boolean => unit === CLOSE_BRACKET || unit === CLOSE_BRACE;
