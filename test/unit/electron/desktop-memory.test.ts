import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Log, silentLog } from '../../../main/base/log.ts';
import { findBounds, nameScreens, openDesktopMemory, storeBounds } from '../../../main/electron/window-state.ts';

function memoryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vivarium-memory-'));
  onTestFinished(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
  return join(folder, 'window.json');
}

const NOTHING = {
  bounds: [],
  maximized: false,
  fullScreen: false,
  closeExplained: false,
  notifies: false,
  checksVersion: false,
  versionCheckedAtMs: 0,
  newestVersion: null,
};
const BOUNDS = { x: -10, y: 20, width: 1000, height: 700 };

describe('the desktop app’s memory', () => {
  it('is empty at first', () => {
    expect(openDesktopMemory(memoryFile(), silentLog).get()).toEqual(NOTHING);
  });

  it('survives a restart, readable only for its owner', () => {
    const file = memoryFile();
    openDesktopMemory(file, silentLog).set({ bounds: storeBounds([], 'a', BOUNDS), maximized: true });
    const stored = openDesktopMemory(file, silentLog).get();
    expect(stored).toEqual({ ...NOTHING, bounds: [{ screens: 'a', bounds: BOUNDS }], maximized: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['{', NOTHING],
    ['[]', NOTHING],
    [
      '{"bounds": [{"screens": "a", "bounds": {"x": 0, "y": 0, "width": 1e9, "height": 5}}], "maximized": "yes", "closeExplained": true}',
      { ...NOTHING, closeExplained: true },
    ],
    ['{"bounds": {"x": 0.5}}', NOTHING],
  ])('of %s keeps what is valid', (text, expected) => {
    const file = memoryFile();
    writeFileSync(file, text);
    expect(openDesktopMemory(file, silentLog).get()).toEqual(expected);
  });

  it('contains the bounds for each set of screens, and the last ones for a new set', () => {
    const other = { ...BOUNDS, x: 500 };
    const stored = storeBounds(storeBounds(storeBounds([], 'desk', BOUNDS), 'laptop', BOUNDS), 'laptop', other);
    expect([findBounds(stored, 'desk'), findBounds(stored, 'laptop')]).toEqual([BOUNDS, other]);
    expect([findBounds(stored, 'projector'), findBounds([], 'desk')]).toEqual([other, null]);
    const many = Array.from({ length: 20 }, (_, index) => `${index}`).reduce(
      (entries, name) => storeBounds(entries, name, BOUNDS),
      stored,
    );
    expect([many.length, many.at(-1)?.screens]).toEqual([10, '19']);
    const [laptop, second] = [{ x: 0, y: 25, width: 1440, height: 875 }, BOUNDS];
    expect(nameScreens([laptop, second])).toBe(nameScreens([second, laptop]));
  });

  it('stays in this run if it cannot be written', () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
    const memory = openDesktopMemory('/nonexistent/window.json', log);
    memory.set({ closeExplained: true });
    expect([memory.get().closeExplained, warnings.length]).toEqual([true, 1]);
    expect(() => readFileSync('/nonexistent/window.json')).toThrow();
  });
});
