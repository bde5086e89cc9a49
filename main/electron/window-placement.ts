/** A place on the screens, in device-independent pixels, as Electron tells it. */
export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The window is laid out from this size up; `renderer` is tested at it. */
export const WINDOW_SIZE_MIN = { width: 900, height: 600 } as const;

const WINDOW_SIZE_FIRST = { width: 1280, height: 832 } as const;

/** Less than this of a window on a screen, and its title bar could not be taken hold of. */
const VISIBLE_PIXELS_MIN = 80;

/**
 * Where to open the window: where it was, moved and shrunk as far as it takes to lie on a screen that is there now; or
 * in its first size, centred by Electron, where its screen has gone or none is stored.
 * @param areas the work areas of the screens, the primary one first
 */
export function placeWindow(
  stored: Rectangle | null,
  areas: readonly Rectangle[],
): { width: number; height: number; x?: number; y?: number } {
  const [primary = { x: 0, y: 0, ...WINDOW_SIZE_FIRST }] = areas;
  const home = stored === null ? undefined : areas.toSorted((a, b) => shared(stored, b) - shared(stored, a))[0];
  if (stored === null || home === undefined || !isReachable(stored, home)) {
    return shrink(stored ?? WINDOW_SIZE_FIRST, primary);
  }
  const { width, height } = shrink(stored, home);
  return {
    width,
    height,
    x: clamp(stored.x, home.x, home.x + home.width - width),
    y: clamp(stored.y, home.y, home.y + home.height - height),
  };
}

const overlap = (a: Rectangle, b: Rectangle): { width: number; height: number } => ({
  width: Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x),
  height: Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y),
});

function shared(a: Rectangle, b: Rectangle): number {
  const { width, height } = overlap(a, b);
  return Math.max(width, 0) * Math.max(height, 0);
}

function isReachable(window: Rectangle, area: Rectangle): boolean {
  const { width, height } = overlap(window, area);
  return width >= VISIBLE_PIXELS_MIN && height >= VISIBLE_PIXELS_MIN;
}

const shrink = (wanted: { width: number; height: number }, area: Rectangle): { width: number; height: number } => ({
  width: Math.max(Math.min(wanted.width, area.width), Math.min(WINDOW_SIZE_MIN.width, area.width)),
  height: Math.max(Math.min(wanted.height, area.height), Math.min(WINDOW_SIZE_MIN.height, area.height)),
});

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(value, most));
