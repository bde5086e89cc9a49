/** One mistake is tolerated for every so many letters. */
const LETTERS_PER_MISTAKE = 3;

/** Limit on suggestions. */
const SUGGESTIONS_MAX = 3;

/** Longer words are compared only by their beginning: the cost is the product of the lengths. */
const WORD_LENGTH_MAX = 64;

/**
 * Up to three candidates that `word` was probably meant to be, best first: those it begins, and those within a small
 * edit distance. Ignores case.
 */
export function nearest(word: string, candidates: Iterable<string>): string[] {
  const wanted = word.slice(0, WORD_LENGTH_MAX).toLowerCase();
  const found: { candidate: string; mistakes: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const mistakes = countMistakes(wanted, candidate.slice(0, WORD_LENGTH_MAX).toLowerCase());
    const isBeginning = wanted.length >= 2 && candidate.toLowerCase().startsWith(wanted);
    if (isBeginning || mistakes <= Math.max(1, Math.floor(wanted.length / LETTERS_PER_MISTAKE))) {
      found.push({ candidate, mistakes: isBeginning ? 0 : mistakes });
    }
  }
  found.sort((a, b) => a.mistakes - b.mistakes || a.candidate.localeCompare(b.candidate));
  return found.slice(0, SUGGESTIONS_MAX).map(({ candidate }) => candidate);
}

/** ` Did you mean "a" or "b"?` with a leading space; empty if no candidate is similar. */
export const didYouMean = (word: string, candidates: Iterable<string>): string => suggest(nearest(word, candidates));

/** The same question, about all of the candidates. */
export function suggest(candidates: readonly string[]): string {
  const quoted = candidates.map((candidate) => `"${candidate}"`);
  const last = quoted.pop();
  if (last === undefined) return '';
  return ` Did you mean ${quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`}?`;
}

/** The edit distance that counts swapping two neighbours as one mistake (optimal string alignment). */
function countMistakes(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
