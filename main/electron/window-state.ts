import type { BrowserWindow } from 'electron';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { orElse } from '../contract/errors.ts';
import type { RealTime } from '../base/clock.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import type { Log } from '../base/log.ts';

/** A rectangle on the screens, in device-independent pixels, as Electron reports it. */
export type Rectangle = z.infer<typeof rectangle>;

/** The smallest size of the layout; `renderer` is tested at it. */
export const WINDOW_SIZE_MIN = { width: 900, height: 600 } as const;

const WINDOW_SIZE_FIRST = { width: 1280, height: 832 } as const;

/** With less of the window on a screen, its title bar could not be grabbed. */
const VISIBLE_PIXELS_MIN = 80;

/**
 * Where to open the window: its last bounds, moved and shrunk to fit a connected screen; or the initial size, centred
 * by Electron, if that screen is gone or no bounds are stored.
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

/** Names the screens that are connected, whatever their order. */
export const nameScreens = (areas: readonly Rectangle[]): string =>
  areas
    .map(({ x, y, width, height }) => `${width}x${height}+${x}+${y}`)
    .toSorted()
    .join(' ');

/** Sets of screens whose bounds are kept: a desk, a projector, none. */
const SCREEN_SETS_MAX = 10;

/** `stored` with these bounds for this set of screens, the latest last. */
export function storeBounds(stored: StoredBounds, screens: string, bounds: Rectangle): StoredBounds {
  const others = stored.filter((entry) => entry.screens !== screens);
  return [...others, { screens, bounds }].slice(-SCREEN_SETS_MAX);
}

/** The last bounds on this set of screens; the last ones at all if it is new. */
export const findBounds = (stored: StoredBounds, screens: string): Rectangle | null =>
  (stored.find((entry) => entry.screens === screens) ?? stored.at(-1))?.bounds ?? null;

const pixels = z.int().min(-1_000_000).max(1_000_000);

const rectangle = z.object({ x: pixels, y: pixels, width: pixels.min(1), height: pixels.min(1) });

const remembered = z.object({
  /** By the screens that were connected, oldest first. */
  bounds: z
    .array(z.object({ screens: z.string(), bounds: rectangle }))
    .max(SCREEN_SETS_MAX)
    .catch([]),
  maximized: z.boolean().catch(false),
  fullScreen: z.boolean().catch(false),
  /** Whether the user has seen that closing the window leaves the servers running. */
  closeExplained: z.boolean().catch(false),
  /** Whether the system shows notifications of lost domains and banned keys. */
  notifies: z.boolean().catch(false),
  /** Whether to ask once a day for the newest version; the time (real) and result of the last request. */
  checksVersion: z.boolean().catch(false),
  versionCheckedAtMs: z.number().catch(0),
  newestVersion: z.string().max(100).nullable().catch(null),
});
type Remembered = z.infer<typeof remembered>;
export type StoredBounds = Remembered['bounds'];

/** Every field has a value for what is missing. */
const NOTHING = remembered.parse({});

/** Persists the desktop's state in one small file. Unreadable values count as unset. */
export type DesktopMemory = ReturnType<typeof openDesktopMemory>;

export function openDesktopMemory(file: string, log: Log) {
  let current = read(file);
  return {
    get: (): Readonly<Remembered> => current,
    set(change: Partial<Remembered>): void {
      current = { ...current, ...change };
      try {
        writeFileAtomically(file, `${JSON.stringify(current, null, 2)}\n`, OWNER_ONLY);
      } catch (error) {
        log.warn('The state of the window could not be saved', { file, error });
      }
    },
  };
}

const read = (file: string): Remembered =>
  orElse(() => remembered.parse(JSON.parse(readFileSync(file, 'utf8'))), NOTHING);

/** Slower pages become visible while they load. */
const HIDDEN_MS_MAX = 2_000;

/** The part of a window that this file uses. */
export interface HiddenWindow extends Pick<BrowserWindow, 'isDestroyed'> {
  once(event: 'ready-to-show', listener: () => void): unknown;
}

/**
 * Shows a hidden window once: when its page has been drawn (`ready-to-show`), when the caller reports that it has
 * loaded, or after two seconds. The event alone is not enough: Wayland draws no hidden window, and Electron never emits
 * it there (electron/electron#48859).
 * @param show shows the window; never called for one that has been closed meanwhile
 * @returns call it when loading the page has ended, successfully or not
 */
export function revealInTime(window: HiddenWindow, show: () => void, time: Pick<RealTime, 'schedule'>): () => void {
  let due = true;
  const reveal = () => {
    timer.cancel();
    if (due && !window.isDestroyed()) show();
    due = false;
  };
  const timer = time.schedule(HIDDEN_MS_MAX, reveal);
  window.once('ready-to-show', reveal);
  return reveal;
}
