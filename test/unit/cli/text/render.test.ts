import { describe, expect, it } from 'vitest';
import { renderEvent, renderResult } from '../../../../main/cli/text/render.ts';
import { createStyle, fit, jsonLine, printable, printableLines, widthOf } from '../../../../main/cli/text/text.ts';

const plain = { style: createStyle(false), width: null };
const lines = (...text: string[]) => `${text.join('\n')}\n`;

const refused = (count: number) => Array.from({ length: count }, (_, index) => ({ row: index + 1, message: 'no' }));
const named = (...rows: [id: string, name: string][]) => rows.map(([id, name]) => ({ id, name }));

describe('a result for people', () => {
  it.each<[string, unknown, string]>([
    ['a list', named(['1', 'Ada'], ['10', 'Bo']), lines('id  name', '1   Ada', '10  Bo')],
    ['a list with gaps', [{ id: '1' }, { id: '2', note: 'x' }], lines('id  note', '1   –', '2   x')],
    ['an empty list', [], lines('Nothing here.')],
    ['an empty text', { saved: '', history: [] }, lines('saved    –', 'history  –')],
    ['a list of words', ['a', 'b'], lines('a', 'b')],
    [
      'a list of objects with lists and long texts',
      [
        {
          id: '1',
          pem: '-----BEGIN\nabc\n',
          checks: [{ fix: 'x'.repeat(80) }],
          certificate: { reasons: [{ code: 'y' }], state: 'issued' },
        },
        { id: '2', sans: ['a', 'b'] },
      ],
      lines(
        'id  certificate.reasons  certificate.state  sans',
        '1   code: y              issued             –',
        '2   –                    –                  a, b',
        'Not shown: pem, checks. --json has everything.',
      ),
    ],
    ['an object', { id: '1', few: { a: 5 }, primary: null }, lines('id       1', 'few.a    5', 'primary  –')],
    ['a page', { items: [{ id: '1' }], total: 9, next: '1' }, lines('id', '1', '', 'total  9', 'next   1')],
    [
      'a list inside',
      { warnings: [], cors: ['a', 'b'], rejected: refused(2) },
      lines('warnings  –', 'cors      a, b', 'rejected  row: 1, message: no', '          row: 2, message: no'),
    ],
    [
      'an inner list of wide objects',
      {
        state: 'pending',
        checks: [
          { code: 'no_record', message: 'x'.repeat(80) },
          { code: 'moved', fix: 'y' },
        ],
      },
      lines(
        'state   pending',
        'checks  code     no_record',
        `        message  ${'x'.repeat(80)}`,
        '',
        '        code  moved',
        '        fix   y',
      ),
    ],
    [
      'a series of numbers',
      { requests: [0, 0, 1, 0, 4, 8, 16, 0], p50: [null, null, 0.5, null, 1, 1.25, 2, null], few: [1, 2] },
      lines('requests  ▁▁▂▁▂▄█▁  highest 16', 'p50       ··▂·▄▅█·  highest 2', 'few       1, 2'),
    ],
    [
      'a long series, with the highest of neighbours',
      { requests: Array.from({ length: 120 }, (_, index) => (index === 119 ? 9 : 0)) },
      lines(`requests  ${'▁'.repeat(39)}█  highest 9`),
    ],
    ['a series without values', { p50: Array.from({ length: 8 }, () => null) }, lines('p50  –')],
    ['a text of several lines', { pem: '-----BEGIN\nabc\n' }, lines('pem  -----BEGIN', '     abc')],
    ['names of two cells a character', named(['猫', '1'], ['Ada', '2']), lines('id   name', '猫   1', 'Ada  2')],
    ['control characters', [{ name: 'a\u001b[31mb\u202e' }], lines('name', 'a\\u{1b}[31mb\\u{202e}')],
    ['a number', 5, lines('5')],
    ['nothing', null, lines('–')],
  ])('%s', (_what, value, text) => {
    expect(renderResult(value, plain)).toBe(text);
  });

  it('omits what does not fit the terminal, and reports it', () => {
    const rows = [{ id: 'prj_1', name: 'Aquarium', baseUrl: 'http://aquarium.vivarium.localhost' }];
    expect(renderResult(rows, { ...plain, width: 20 })).toBe(
      lines('id     name', 'prj_1  Aquarium', 'Not shown: baseUrl.', '--json has', 'everything.'),
    );
    expect(renderResult([{ id: 'prj_1', name: 'Aquarium' }], { ...plain, width: 10 })).toBe(
      lines('id', 'prj_1', 'Not shown:', 'name.', '--json has', 'everything.'),
    );
    expect(renderResult([{ text: 'x'.repeat(30) }], { ...plain, width: 10 })).toBe(lines('text', `${'x'.repeat(9)}…`));
  });

  it('is coloured by its meaning', () => {
    const style = createStyle(true);
    const failed = renderResult([{ status: 'failed', name: 'failed' }], { style, width: null });
    expect(failed).toContain('\u001b[31mfailed\u001b[0m');
    expect(renderResult({ status: 'available' }, { style, width: null })).toContain('\u001b[32mavailable\u001b[0m');
    expect(renderResult([{ id: 1, status: 'pending' }], { style, width: null })).toBe(
      lines('\u001b[1mid  status\u001b[0m', '1   \u001b[33mpending\u001b[0m'),
    );
  });
});

it('an event is one line', () => {
  const event = { type: 'pets.changed', projectId: 'p', at: '2026-11-20T09:00:00.000Z' };
  expect(renderEvent(event, plain)).toBe('2026-11-20T09:00:00.000Z  pets.changed  projectId=p\n');
  expect(renderEvent({ text: 'a\nb' }, plain).split('\n')).toHaveLength(2);
});

it.each([
  ['abc', 3],
  ['猫', 2],
  ['é', 1],
  ['e\u0301', 1],
  ['🦦', 2],
  ['👩‍👩‍👧', 2],
  ['🇯🇵', 2],
  ['❤\ufe0f', 2],
  ['©', 1],
  ['↔', 1],
  ['한글', 4],
  ['ｱ', 1],
  ['𠮷', 2],
  ['a\u200bb', 2],
  ['', 0],
])('%j occupies %i cells', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

it('a truncated text ends in an ellipsis and fits', () => {
  expect(fit('Aquarium', 4)).toBe('Aqu…');
  expect(fit('猫猫猫', 4)).toBe('猫…');
  expect(fit('abc', 3)).toBe('abc');
});

it.each([
  ['a\u0007b', 'a\\u{7}b'],
  ['\u009b31m', '\\u{9b}31m'],
  ['\u2066x', '\\u{2066}x'],
  ['Ünï 猫 👩‍👩‍👧', 'Ünï 猫 👩‍👩‍👧'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('a JSON line keeps its value, and escapes control characters', () => {
  const value = { name: 'a\u009b31m\u202e', text: 'b\nc' };
  const json = JSON.stringify(value);
  expect(jsonLine(json, {})).toBe(`${json}\n`);
  const shown = jsonLine(json, { isTTY: true });
  expect(shown).toContain('a\\u009b31m\\u202e');
  expect(JSON.parse(shown)).toEqual(value);
});

it('a file’s text keeps its lines and tabs, and escapes control characters', () => {
  expect(printableLines('a\tb\n\u001b[2Jc\n')).toBe('a\tb\n\\u{1b}[2Jc\n');
});
