// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import {
  dumpOf,
  hexDocument,
  linesDocument,
  markPieces,
  ROW_LENGTH_MAX,
  textDocument,
  type BodyDocument,
} from '../../../../../../renderer/pages/traffic/bodies/body-document.ts';
import {
  bytesOf,
  lookAtBody,
  type RecordedBody,
  readMultipart,
} from '../../../../../../renderer/pages/traffic/bodies/body-look.ts';
import { BodyReader } from '../../../../../../renderer/pages/traffic/bodies/body-reader.svelte.ts';

const textBody = (text: string, rest: Partial<RecordedBody> = {}): RecordedBody => ({
  text,
  encoding: 'utf8',
  bytes: text.length,
  cut: false,
  ...rest,
});
const binaryBody = (bytes: Uint8Array | string): RecordedBody => {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes);
  return { text: buffer.toString('base64'), encoding: 'base64', bytes: buffer.length, cut: false };
};

describe('a body', () => {
  it.each([
    ['application/json', textBody('{"a":1}'), 'tree text hex', []],
    ['text/plain', textBody(' [1]'), 'tree text hex', []],
    ['application/problem+json', textBody('[1,2,', { cut: true }), 'tree text hex', []],
    ['application/json', textBody('{"a":'), 'text hex', [/^It is not valid JSON: /]],
    ['application/json', textBody(`${'['.repeat(101)}${']'.repeat(101)}`), 'text hex', [/deeper than 100 levels/]],
    ['application/json', textBody(`[${'0,'.repeat(10_000)}0]`), 'text hex', [/too many values/]],
    ['text/html', textBody('<p>'), 'text hex', []],
    ['text/event-stream', textBody('data: a\n\n'), 'events text hex', []],
    ['application/x-www-form-urlencoded', textBody('a=1'), 'fields text hex', []],
    ['multipart/form-data; boundary=b', textBody('--b\r\n\r\n--b--'), 'fields text hex', []],
    ['multipart/form-data; boundary=b', textBody('no such thing'), 'text hex', []],
    ['multipart/form-data', textBody('--b'), 'text hex', []],
    ['image/svg+xml', textBody('<svg/>'), 'image text hex', []],
    ['image/png', binaryBody('\x89PNG'), 'image hex', []],
    ['application/octet-stream', binaryBody('\xff'), 'hex', []],
    ['', binaryBody('\xff'), 'hex', []],
    ['text/plain; charset=iso-8859-1', binaryBody('caf\xe9'), 'text hex', []],
    ['text/plain; charset="x-none"', binaryBody('caf\xe9'), 'hex', [/“x-none” is unknown/]],
    ['text/plain', binaryBody('caf\xe9'), 'text hex', [/not valid UTF-8/]],
    ['application/json', binaryBody('["\xe9"]'), 'tree text hex', [/not valid UTF-8/]],
  ] as const)('of type %j is shown according to its content: %#', (type, body, views, notes) => {
    const look = lookAtBody(body, type);
    expect(look.views.join(' ')).toBe(views);
    expect(look.notes).toEqual(notes.map((note) => expect.stringMatching(note) as string));
  });

  it('is decoded by its charset', () => {
    expect(lookAtBody(binaryBody('caf\xe9'), 'text/plain; charset=iso-8859-1').text).toBe('café');
    expect(bytesOf(binaryBody('\xff\0'))).toEqual(Uint8Array.of(255, 0));
  });

  it('shows the fields of a form, files without their content, and a part that was cut off', () => {
    expect(lookAtBody(textBody('a=1+2&b=%C3%A4&b=\n'), 'application/x-www-form-urlencoded').fields).toEqual([
      { name: 'a', value: '1 2' },
      { name: 'b', value: 'ä' },
      { name: 'b', value: '' },
    ]);
    const parts = [
      '--x y\r\nContent-Disposition: form-data; name="na%22me \\"q\\""\r\n\r\nä\r\nb\r\n',
      '--x y\r\ncontent-disposition: form-data; name=pic; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\xff\xfe\r\n',
      '--x y\r\nContent-Disposition: form-data; name="cu',
    ];
    const bytes = Buffer.concat([Buffer.from(parts[0] ?? ''), Buffer.from(parts.slice(1).join(''), 'latin1')]);
    expect(readMultipart(bytes, 'multipart/form-data; boundary="x y"')).toEqual([
      { name: 'na"me "q"', value: 'ä\r\nb' },
      { name: 'pic', value: undefined, file: { name: 'a.png', type: 'image/png', bytes: 2 } },
      { name: 'cu', value: '' },
    ]);
  });
});

const shown = (document: BodyDocument, reader?: BodyReader): string[] =>
  (reader?.rows ?? document.rows([])).map((row) => textsOf(document.pieces(row)).join(''));

const textsOf = (pieces: readonly { text: string }[]) => pieces.map(({ text }) => text);

const treeOf = (text: string): BodyDocument =>
  linesDocument(lookAtBody(textBody(text), 'application/json').tree?.lines ?? []);

describe('a body in rows', () => {
  const TEXT = '{"id":9007199254740993,"tags":["aa","b"],"none":[],"deep":{"aA":{"x":null}}}';

  it('folds objects and arrays, and unfolds those that contain a match', () => {
    const document = treeOf(TEXT);
    const reader = new BodyReader(() => document);
    expect(shown(document, reader)).toHaveLength(13);
    reader.foldAll();
    expect(shown(document, reader)).toEqual([
      '{',
      '"id": 9007199254740993,',
      '"tags": [ 2 items ],',
      '"none": [],',
      '"deep": { 1 member }',
      '}',
    ]);
    expect(reader.find('aa')?.from).toBeGreaterThan(0);
    expect([reader.matches.length, shown(document, reader)[3]]).toEqual([2, '"aa",']);
    const row = reader.step(1);
    expect(row && textsOf(document.pieces(row))).toEqual(['"aA"', ': ', '{', ' 1 member ', '}']);
    expect(row && reader.parentOf(row)?.fold?.line).toBe(7);
    const current = row && reader.piecesOf(row).filter(({ mark }) => mark === 'current');
    expect(current).toEqual([{ kind: 'name', text: 'aA', mark: 'current' }]);
    expect([reader.step(1)?.from, reader.at]).toEqual([expect.any(Number), 0]);
    expect([reader.step(-1)?.from, reader.at]).toEqual([row?.from, 1]);
    expect([reader.find('(nothing'), reader.at, reader.step(1)]).toEqual([undefined, -1, undefined]);
    reader.unfoldAll();
    expect(shown(document, reader)).toHaveLength(13);
  });

  it('breaks long lines between characters, and marks what continues in the next row', () => {
    const text = `${'a'.repeat(ROW_LENGTH_MAX - 1)}😀${'b'.repeat(ROW_LENGTH_MAX)}`;
    const document = textDocument(`${text}\r\n\nend`);
    const rows = document.rows([]);
    expect(rows.map(({ from, to }) => to - from)).toEqual([ROW_LENGTH_MAX - 1, ROW_LENGTH_MAX, 2, 0, 3]);
    const matches = document.find('A😀');
    const marks = rows.slice(0, 2).map((row) => markPieces(document.pieces(row), matches, 0).map(({ mark }) => mark));
    expect(marks).toEqual([
      ['none', 'current'],
      ['current', 'none'],
    ]);
    expect(document.find('b').length).toBe(ROW_LENGTH_MAX);
  });

  it('of bytes is searched by text and by digits', () => {
    const bytes = Uint8Array.from([...Buffer.from('Héllo \0'), 0xff, 0xd8, 0x41]);
    const document = hexDocument(bytes, 8);
    expect(dumpOf(document).split('\n')).toEqual([
      '0000  48 c3 a9 6c 6c 6f 20 00   H··llo ·',
      '0008  ff d8 41                  ··A',
    ]);
    const found = ['hé', 'HÉ', 'l', 'ff d8', '41', '48 41'].map((query) =>
      document.find(query).map(({ from }) => from),
    );
    expect(found).toEqual([[0], [], [3, 4], [8], [10], []]);
    const pieces = document
      .rows([])
      .slice(0, 1)
      .flatMap((row) => markPieces(document.pieces(row), document.find('hé'), 0));
    const current = pieces.filter(({ mark }) => mark === 'current');
    expect(textsOf(current)).toEqual(['48 ', 'c3 ', 'a9 ', 'H', '·', '·']);
  });

  it('is laid out line by line, with any line end', () => {
    expect(shown(textDocument('a\r\nb\rc\n'))).toEqual(['a', 'b', 'c', '']);
    expect(shown(textDocument(''))).toEqual(['']);
  });
});
