import { expect, it } from 'vitest';
import { showLine } from '../../../../main/cli/launch/live-line.mjs';

/** What a terminal or a pipe shows of a line: `\r` goes back to its beginning, and `\x1b[K` erases its rest. */
function drawn(isTTY: boolean): { shown: string; widest: number } {
  const written: string[] = [];
  const line = showLine('Installing 615 packages, once:', { isTTY, write: (text) => written.push(text) });
  for (let percent = 0; percent < 99; percent++) {
    line.show(`${percent} %`);
    line.show();
  }
  line.end('100 %');
  const text = written.join('');
  const lasting = text.split('\n').map((row) => row.split('\r').map((part) => part.replace('\x1b[K', '')));
  return {
    shown: lasting.map((parts) => parts.at(-1)).join('\n'),
    widest: Math.max(...lasting.flat().map((part) => part.length)),
  };
}

it('progress in a terminal is one line that fits', () => {
  const { shown, widest } = drawn(true);
  expect([shown, widest <= 50]).toEqual(['Installing 615 packages, once: 100 %\n', true]);
});

it('progress in a pipe is one line that grows', () => {
  expect(drawn(false).shown).toMatch(/^Installing 615 packages, once: 0 % \. 1 % \. [^\n]* 98 % \. 100 %\n$/);
});
