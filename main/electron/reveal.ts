import type { BrowserWindow } from 'electron';
import type { RealTime } from '../base/clock.ts';

/** A page that takes longer is seen while it loads. */
const HIDDEN_MS_MAX = 2_000;

/** As much of a window as is needed here. */
export interface HiddenWindow extends Pick<BrowserWindow, 'isDestroyed'> {
  once(event: 'ready-to-show', listener: () => void): unknown;
}

/**
 * Shows a window that was made hidden, once: when its page has been drawn (`ready-to-show`), when the caller knows that
 * it has been loaded, or after two seconds. The first alone is not enough: a Wayland session draws no hidden window, and
 * Electron never emits the event there (electron/electron#48859).
 * @param show shows the window; never called for one that has been closed meanwhile
 * @returns what to call when loading the page has ended, well or not
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
