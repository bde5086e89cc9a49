import type { Display, Rectangle, Screen } from 'electron';
import { requireReady } from './app.ts';
import { fault } from './driver.ts';
import { strictly } from './strict.ts';

/** The screens' work areas, as the test wants them: `[{"x":0,"y":25,"width":1440,"height":875}]`. */
const AREAS = process.env['ELECTRON_STAND_IN_SCREENS'];

const areas = AREAS === undefined ? [{ x: 0, y: 25, width: 1440, height: 875 }] : (JSON.parse(AREAS) as Rectangle[]);

const displays = areas.map((workArea) => strictly('a display', { workArea }) as unknown as Display);

export const primaryDisplay = (): Display => displays[0] ?? fault('has no screen.');

export const screen = strictly('screen', {
  getPrimaryDisplay() {
    requireReady('screen');
    return primaryDisplay();
  },
  getAllDisplays() {
    requireReady('screen');
    return displays;
  },
} satisfies Partial<Screen>);
