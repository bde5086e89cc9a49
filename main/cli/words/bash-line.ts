/** A line of bash up to the cursor, read without running anything in it. */
export interface BashLine {
  /** The words after the command, unquoted; the last one is being typed and may be empty. */
  words: string[];
  /** The quote that is open at the cursor. */
  quote: '"' | "'" | '';
  /** How many characters of the last word bash takes for separate words, because they end in a word break. */
  skipped: number;
}

/** The word breaks of `COMP_WORDBREAKS` that occur in unquoted words. */
const BREAKS = ':=@';

/** Splits a line at blanks, with bash's quoting; expansions stay as they are typed. */
export function readBashLine(line: string): BashLine {
  const words: string[] = [];
  let word: string | null = null;
  let quote: BashLine['quote'] = '';
  let skipped = 0;
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index);
    if (quote !== "'" && character === '\\') {
      word = (word ?? '') + line.charAt(++index);
    } else if (quote !== '') {
      if (character === quote) quote = '';
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === ' ' || character === '\t') {
      if (word !== null) words.push(word);
      word = null;
      skipped = 0;
    } else {
      word = (word ?? '') + character;
      if (BREAKS.includes(character)) skipped = word.length;
    }
  }
  return { words: [...words, word ?? ''].slice(1), quote, skipped: quote === '' ? skipped : 0 };
}

/**
 * What bash is to insert for each candidate: in an open quote as it is, otherwise with what bash would interpret
 * escaped.
 */
export function bashReplies({ quote, skipped }: BashLine, candidates: readonly { value: string }[]): string[] {
  return candidates.map(({ value }) => {
    if (quote === "'") return value.replaceAll("'", "'\\''");
    if (quote === '"') return value.replace(/["\\$`]/g, '\\$&');
    return value.slice(skipped).replace(/[^\w./:=@%+,-]/g, '\\$&');
  });
}
