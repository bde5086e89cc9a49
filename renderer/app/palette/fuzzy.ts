/** Where letters of a text matched: `from` inclusive, `to` exclusive, in UTF-16 units. */
export type Range = readonly [from: number, to: number];

export interface Fit {
  /** 4: the text begins with the word; 3: a word of it does; 2: it contains it; 1: it has its letters, in order. */
  score: number;
  ranges: readonly Range[];
}

/** Letters that a word skips between two matching ones: enough for a forgotten letter, too few for chance. */
const GAP_MAX = 2;

/** Almost every text contains the letters of a shorter word. */
const LOOSE_MIN = 3;

/** The text in lower case, with as many units as before, so that positions stay valid. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join('');
}

const LETTER = /[\p{L}\p{N}]/u;

const beginsWord = (text: string, at: number): boolean => at === 0 || !LETTER.test(text[at - 1] ?? ' ');

/** How a folded word fits a folded text; null if it does not. */
export function fitWord(text: string, word: string): Fit | null {
  let first = -1;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (beginsWord(text, at)) return { score: at === 0 ? 4 : 3, ranges: [[at, at + word.length]] };
    if (first === -1) first = at;
  }
  if (first !== -1) return { score: 2, ranges: [[first, first + word.length]] };
  if (word.length < LOOSE_MIN) return null;
  const positions = hasInOrder(text, word) ? lettersOf(text, word) : null;
  return positions === null ? null : { score: 1, ranges: joined(positions.map((at) => [at, at + 1])) };
}

function hasInOrder(text: string, word: string): boolean {
  let at = -1;
  for (const letter of word) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return false;
  }
  return true;
}

/**
 * The positions of a word's letters: the first begins a word, each further one follows within `GAP_MAX` letters of the
 * same word, or begins another.
 */
function lettersOf(text: string, word: string): number[] | null {
  const dead = new Set<number>();
  function after(at: number, index: number): number[] | null {
    if (index === word.length) return [];
    for (let next = at + 1; next < text.length; next++) {
      if (text[next] !== word[index]) continue;
      if (!beginsWord(text, next) && (index === 0 || next - at - 1 > GAP_MAX)) continue;
      const key = next * word.length + index;
      if (dead.has(key)) continue;
      const rest = after(next, index + 1);
      if (rest !== null) return [next, ...rest];
      dead.add(key);
    }
    return null;
  }
  return after(-1, 0);
}

/** Ranges in order; adjacent and overlapping ones are merged. */
export function joined(ranges: readonly Range[]): Range[] {
  const result: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}
