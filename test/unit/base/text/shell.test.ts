import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { posixPrintf, posixWord, powerShellString, shellWord } from '../../../../main/base/text/shell.ts';
import { findTool } from '../../../support/tools.ts';

const TEXTS = [
  ['a plain word', 'a@b%c+d=e:f,g./-h'],
  ['nothing', ''],
  ['what zsh takes for a path', '=ls'],
  ['quotation marks', `it's "so" ‘or’ ‚so‛ “it” \`is\``],
  ['variables', '$HOME ${x} $(id) %PATH% !PATH! $env:x'],
  ['backslashes', String.raw`\\server\share\'\!\ `.trim() + '\\'],
  ['control characters', 'a\u0001\u0003\u001b[201~\u007f\u0080\u009b\tb\r\nc'],
  ['invisible characters', '\u202ea\u2028b\u2029\u2066\ufeff\u200d\u{e0041}'],
  ['a long text', `${'x'.repeat(2_000)}!'\\`.repeat(3)],
] as const;

describe('a word of a POSIX shell', () => {
  it.each(TEXTS)('is %s', (_what, text) => {
    const written = execFileSync('sh', ['-c', `printf %s ${posixWord(text)}`]).toString();
    expect(written).toBe(text);
    expect(posixWord(text)).not.toMatch(/[^\n\P{C}]|[\p{Zl}\p{Zp}]/u);
  });

  it('may contain any bytes', () => {
    const octets = Uint8Array.from({ length: 255 }, (_, index) => index + 1);
    expect(execFileSync('sh', ['-c', `printf %s ${posixWord(octets)}`])).toEqual(Buffer.from(octets));
    expect(posixWord(new TextEncoder().encode('été'))).toBe("'été'");
  });

  it('has lines that are short enough for every terminal', () => {
    const lines = [posixWord("it's ".repeat(2_000)), posixPrintf('\u0001é'.repeat(2_000))].join('\n').split('\n');
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(1_024);
  });

  it('is written by printf if it contains NUL or ends with line ends', () => {
    expect(execFileSync('sh', ['-c', posixPrintf('-%s\u0000\\n\n\n')]).toString()).toBe('-%s\u0000\\n\n\n');
  });
});

describe('a word of a shell on Windows', () => {
  it.each([
    ['C:\\data\\root.pem', 'C:\\data\\root.pem'],
    ["C:\\it's here & there", `"C:\\it's here & there"`],
    ['C:\\50% $x', "'C:\\50% $x'"],
    ['a “b” `c', "'a “b” `c'"],
    ["!it's ’", "'!it''s ’’'"],
    ['', '""'],
    ['a\u0003\u2028b', "('a'+[char]3+''+[char]8232+'b')"],
  ])('%j is %s', (text, word) => {
    expect(shellWord(text, 'win32')).toBe(word);
  });

  it.for(TEXTS)('is %s to PowerShell', ([, text], { skip }) => {
    const powerShell = findTool('pwsh');
    if (powerShell === null) return skip('There is no pwsh on this machine, and Debian has no package of it.');
    for (const word of [powerShellString(text), shellWord(text, 'win32')].filter((each) => /^["'(]/.test(each))) {
      const command = `[Console]::OutputEncoding = [Text.Encoding]::UTF8; [Console]::Write(${word})`;
      expect(execFileSync(powerShell, ['-NoProfile', '-Command', command]).toString()).toBe(text);
    }
  });
});
