import { TTL_SECONDS_MAX } from '../wire/record.ts';
import { isDirective, type Entry, type Token } from '../wire/tokens.ts';

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
