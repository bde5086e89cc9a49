import { describe, expect, it } from 'vitest';
import { fileContent, shownText } from '../../../main/cli/render.ts';

describe('a result that is a file', () => {
  it.each([
    [{ text: 'www A 127.0.0.1\n' }, 'www A 127.0.0.1\n'],
    [{ format: 'pem', fileName: 'root.pem', text: '-----BEGIN' }, '-----BEGIN'],
    [{ format: 'der', fileName: 'root.der', base64: 'MIIB' }, Buffer.from([0x30, 0x82, 0x01])],
    [{ text: 'a', total: 1 }, null],
    [{ id: 'a', text: 'b' }, null],
    [{ text: 1 }, null],
    [{ fileName: 'root.pem' }, null],
    [{}, null],
    [['text'], null],
    ['text', null],
    [null, null],
  ])('%j has %j', (result, content) => {
    expect(fileContent(result)).toEqual(content);
  });

  it('is shown on a terminal without acting on it', () => {
    expect(shownText('a\tb\n\u001b[2Jc\n')).toBe('a\tb\n\\u{1b}[2Jc\n');
  });
});
