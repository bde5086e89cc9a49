/** A JSON value in which every number that is mathematically an integer is a bigint, exact at any size. */
export type ExactJson = string | number | bigint | boolean | null | ExactJson[] | { [key: string]: ExactJson };

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Integers of more digits than this stay numbers: far beyond int64, and their exact value would only cost memory. */
const INTEGER_DIGITS_MAX = 40;

/**
 * `JSON.parse` without its rounding: `9007199254740993` comes back as `9007199254740993n`, and so do `1.0` and `1e3`,
 * which JSON Schema counts as integers too. Fractions stay numbers.
 * @throws SyntaxError as `JSON.parse`; RangeError when the text nests deeper than the stack.
 */
export function parseExactJson(text: string): ExactJson {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? (exactInteger(context?.source ?? String(value)) ?? value) : value,
  ) as ExactJson;
}

/** The integer that a JSON number literal stands for, or null when it stands for a fraction or is absurdly long. */
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
