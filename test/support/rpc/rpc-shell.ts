/** Splits a line into words as a POSIX shell does; supports single quotes and backslashes, as used in the help. */
export function splitShellLine(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? '';
    if (character === ' ') {
      if (word !== null) words.push(word);
      word = null;
    } else if (character === "'") {
      const end = line.indexOf("'", index + 1);
      if (end < 0) throw new Error(`A quote is not closed: ${line}`);
      word = (word ?? '') + line.slice(index + 1, end);
      index = end;
    } else if (character === '\\') {
      word = (word ?? '') + (line[++index] ?? '');
    } else {
      word = (word ?? '') + character;
    }
  }
  if (word !== null) words.push(word);
  return words;
}
