import { describe, expect, it } from 'vitest';
import { JsonStructure } from '../../../main/base/text/exact-json.ts';

/** The structural characters of a text that arrives in pieces. */
function structureOf(...pieces: string[]): string {
  const structure = new JsonStructure();
  let found = '';
  for (const piece of pieces) {
    for (let at = structure.next(piece, 0); at >= 0; at = structure.next(piece, at + 1)) found += piece.charAt(at);
  }
  return found;
}

describe('the structure of JSON text', () => {
  it.each([
    ['brackets, braces, commas and colons', '{"a": [1, 2], "b": {}}', '{:[,],:{}}'],
    ['nothing inside of strings', '["[{,:}]", "", 1]', '[,,]'],
    ['nothing behind an escaped quote', String.raw`["\",", 1]`, '[,]'],
    ['what follows an escaped backslash at the end of a string', String.raw`["\\", 1]`, '[,]'],
    ['nothing behind two escapes', String.raw`["\\\",", 1]`, '[,]'],
    ['nothing of a number', '12.5e+3', ''],
    ['nothing behind a quote that is never closed', '["a, b]', '['],
  ])('is %s', (_what, text, structure) => {
    expect(structureOf(text)).toBe(structure);
    for (let cut = 0; cut <= text.length; cut++) {
      expect(structureOf(text.slice(0, cut), text.slice(cut)), `cut at ${cut}`).toBe(structure);
    }
  });
});
