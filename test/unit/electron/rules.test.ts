import { describe, expect, it } from 'vitest';
import { autostartEntry, openingOf, pageOfLink, readOwnArguments } from '../../../main/electron/rules.ts';

describe('the app’s own start arguments', () => {
  it.each<[line: string, mode: string, words: string[]]>([
    ['vivarium-desktop', 'window', []],
    ['vivarium-desktop --no-sandbox', 'window', []],
    ['vivarium-desktop --hidden', 'hidden', []],
    ['electron . -- --data-dir x', 'window', ['--data-dir', 'x']],
    ['electron --enable-logging . -- --empty', 'window', ['--empty']],
    ['vivarium-desktop --command-line --', 'command-line', []],
    [
      'vivarium-desktop --ozone-platform=headless --command-line -- call status.get',
      'command-line',
      ['call', 'status.get'],
    ],
    // What comes after the separator belongs to the user, whatever it looks like.
    ['vivarium-desktop -- --command-line', 'window', ['--command-line']],
    ['vivarium-desktop --command-line -- pets create -- x', 'command-line', ['pets', 'create', '--', 'x']],
  ])('%s', (line, mode, words) => {
    expect(readOwnArguments(line.split(' '))).toEqual({ mode, page: null, words });
  });

  it('contain the page of a link before the separator', () => {
    const { page } = readOwnArguments(['vivarium-desktop', '--no-sandbox', 'vivarium://doctor']);
    expect(page).toBe('app://vivarium/doctor');
  });

  it.each([
    ['vivarium://doctor', 'app://vivarium/doctor'],
    ['VIVARIUM://x.png', null],
    ['vivarium:doctor', null],
  ])('are a link alone, as Windows passes it, whatever words it brings: %s', (link, page) => {
    const words = ['--', '--data-dir', '\\\\evil.example\\share', '--ephemeral'];
    expect(readOwnArguments(['Vivarium.exe', '--', link, ...words])).toEqual({ mode: 'window', page, words: [] });
  });
});

it.each([
  ['/opt/Vivarium/vivarium-desktop', '"/opt/Vivarium/vivarium-desktop" --hidden'],
  ['/home/a b/50%/V.AppImage', '"/home/a b/50%%/V.AppImage" --hidden'],
  ['/home/$a"`\\/V', '"/home/\\\\$a\\\\"\\\\`\\\\\\\\/V" --hidden'],
])('the entry that starts the app at login quotes %s', (program, command) => {
  expect(autostartEntry(program).split('\n')).toContain(`Exec=${command}`);
});

it.each([
  ['vivarium://doctor', 'app://vivarium/doctor'],
  ['vivarium://', 'app://vivarium/'],
  ['VIVARIUM://domains/www.happypaws.test/', 'app://vivarium/domains/www.happypaws.test/'],
  ['vivarium://../../etc/passwd', 'app://vivarium/etc/passwd'],
  ['vivarium:doctor', null],
  ['vivarium://doctor?x=1', null],
  ['vivarium://doctor#token=x', null],
  ['vivarium://@evil.example/', null],
  ['vivarium://a b', null],
  // The interface has no view there: the window would show one line of text, and no way back.
  ['vivarium://x.png', null],
  ['vivarium://acme.test', null],
  ['vivarium://assets/x.js', null],
  ['vivarium://.well-known', null],
  ['vivarium://a:b', null],
  ['vivarium://%00', null],
  ['vivarium://%zz', null],
  ['https://www.happypaws.test/', null],
])('a link to a page %s leads to %s', (link, page) => {
  expect(pageOfLink(link)).toBe(page);
});

it.each([
  [null, ['-n', '-a', '/Applications/Vivarium.app']],
  ['vivarium://doctor', ['-n', '-a', '/Applications/Vivarium.app', '--args', 'vivarium://doctor']],
])('a command on macOS opens the app’s bundle as another process, with the link %s', (link, words) => {
  expect(openingOf('/Applications/Vivarium.app/Contents/MacOS/Vivarium', link)).toEqual(words);
});
