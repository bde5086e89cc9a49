import { expect, it } from 'vitest';
import { wantsColour, widthLimit } from '../../../../main/base/text/terminal.ts';

it.each([
  [true, {}, true],
  [false, {}, false],
  [undefined, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '0' }, false],
  [true, { NO_COLOR: '' }, true],
  [false, { NO_COLOR: '' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: '2' }, true],
  [false, { FORCE_COLOR: '3' }, true],
  [false, { FORCE_COLOR: 'true' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [false, { FORCE_COLOR: '' }, false],
  [true, { FORCE_COLOR: '' }, true],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  [false, { FORCE_COLOR: '0', CLICOLOR_FORCE: '1' }, false],
  [true, { CLICOLOR: '0' }, false],
  [true, { CLICOLOR: '1' }, true],
  [false, { CLICOLOR: '1' }, false],
  [false, { CLICOLOR_FORCE: '1' }, true],
  [false, { CLICOLOR_FORCE: '0' }, false],
  [true, { CLICOLOR_FORCE: '0' }, true],
  [true, { CLICOLOR_FORCE: '1', CLICOLOR: '0' }, true],
  [true, { CLICOLOR_FORCE: '1', NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [true, { TERM: 'xterm' }, true],
  [true, { TERM: 'dumb', FORCE_COLOR: '1' }, true],
])('the colours of a terminal %j with %j: %s', (isTTY, env, colour) => {
  expect(wantsColour({ stdout: { isTTY }, env })).toBe(colour);
});

it.each([
  [{ isTTY: true, columns: 80 }, {}, 80],
  [{ isTTY: true, columns: 0 }, {}, null],
  [{ isTTY: true }, {}, null],
  [{ columns: 80 }, {}, null],
  [{ isTTY: false }, { COLUMNS: '40' }, null],
  [{ isTTY: true, columns: 80 }, { COLUMNS: '120' }, 120],
  [{ isTTY: true, columns: 0 }, { COLUMNS: '60' }, 60],
  [{ isTTY: true, columns: 80 }, { COLUMNS: '0' }, 80],
  [{ isTTY: true, columns: 80 }, { COLUMNS: '-1' }, 80],
  [{ isTTY: true, columns: 80 }, { COLUMNS: 'wide' }, 80],
])('the width of %j with %j: %j', (stdout, env, width) => {
  expect(widthLimit({ stdout, env })).toBe(width);
});
