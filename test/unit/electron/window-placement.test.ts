import { expect, it } from 'vitest';
import { placeWindow, type Rectangle } from '../../../main/electron/window-state.ts';

/** `width×height+x+y`, as X11 writes geometries. */
function geometry(text: string): Rectangle {
  const [width = 0, height = 0, x = 0, y = 0] = [...text.matchAll(/-?\d+/g)].map(([digits]) => Number(digits));
  return { x, y, width, height };
}

function shown(place: ReturnType<typeof placeWindow>): string {
  const { width, height, x, y } = place;
  return `${width}×${height}${x === undefined || y === undefined ? ', centred' : ` ${x} ${y}`}`;
}

const LAPTOP = '1440×875 0 25';
const LEFT_OF_IT = '1920×1080 -1920 0';

it.each<[stored: string | null, areas: string[], place: string, why: string]>([
  [null, [LAPTOP], '1280×832, centred', 'for the first time'],
  [null, ['1024×700 0 0'], '1024×700, centred', 'for the first time on a small screen'],
  ['1000×700 100 100', [LAPTOP], '1000×700 100 100', 'where it was'],
  ['1000×700 -1800 50', [LAPTOP, LEFT_OF_IT], '1000×700 -1800 50', 'on the second screen, where it was'],
  ['1000×700 -1800 50', [LAPTOP], '1000×700, centred', 'its screen has gone'],
  ['1800×1000 -1900 50', [LAPTOP], '1440×875, centred', 'its screen has gone, and was larger'],
  ['1000×700 1000 600', [LAPTOP], '1000×700 440 200', 'partly outside'],
  ['1000×700 -950 100', [LAPTOP], '1000×700, centred', 'hardly a strip of it visible'],
  ['3000×2000 10 30', [LAPTOP], '1440×875 0 25', 'larger than the screen'],
  ['400×300 100 100', [LAPTOP], '900×600 100 100', 'smaller than it can be'],
  ['1000×700 100 100', [], '1000×700, centred', 'no screen is known'],
])('the placement of a new window %s on %j: %s (%s)', (stored, areas, place) => {
  expect(shown(placeWindow(stored === null ? null : geometry(stored), areas.map(geometry)))).toBe(place);
});
