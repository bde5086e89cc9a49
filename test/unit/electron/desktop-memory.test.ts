import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../../main/base/log.ts';
import { silentLog } from '../../../main/base/log.ts';
import { openDesktopMemory } from '../../../main/electron/window-state.ts';

function memoryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vivarium-memory-'));
  onTestFinished(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
  });
  return join(folder, 'window.json');
}

const NOTHING = { bounds: null, maximized: false, fullScreen: false, closeExplained: false };
const BOUNDS = { x: -10, y: 20, width: 1000, height: 700 };

describe('what the desktop remembers', () => {
  it('is nothing at first', () => {
    expect(openDesktopMemory(memoryFile(), silentLog).get()).toEqual(NOTHING);
  });

  it('survives a restart, readable by its owner only', () => {
    const file = memoryFile();
    openDesktopMemory(file, silentLog).set({ bounds: BOUNDS, maximized: true });
    expect(openDesktopMemory(file, silentLog).get()).toEqual({ ...NOTHING, bounds: BOUNDS, maximized: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['{', NOTHING],
    ['[]', NOTHING],
    [
      '{"bounds": {"x": 0, "y": 0, "width": 1e9, "height": 5}, "maximized": "yes", "closeExplained": true}',
      { ...NOTHING, closeExplained: true },
    ],
    ['{"bounds": {"x": 0.5}}', NOTHING],
  ])('of %s is what can be used', (text, expected) => {
    const file = memoryFile();
    writeFileSync(file, text);
    expect(openDesktopMemory(file, silentLog).get()).toEqual(expected);
  });

  it('stays in this run when it cannot be written', () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
    const memory = openDesktopMemory('/nonexistent/window.json', log);
    memory.set({ closeExplained: true });
    expect([memory.get().closeExplained, warnings.length]).toEqual([true, 1]);
    expect(() => readFileSync('/nonexistent/window.json')).toThrow();
  });
});
