import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { revealInTime } from '../../../main/electron/window-state.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function hiddenWindow() {
  const clock = createFakeClock();
  const window = Object.assign(new EventEmitter(), { destroyed: false, isDestroyed: () => window.destroyed });
  let shown = 0;
  const loaded = revealInTime(window, () => shown++, { schedule: (...timer) => clock.realTimer(...timer) });
  return { clock, window, loaded, shown: () => shown };
}

describe('a hidden window', () => {
  it('is shown once, when it is drawn or loaded, whichever happens first', async () => {
    const drawn = hiddenWindow();
    drawn.window.emit('ready-to-show');
    expect(drawn.shown()).toBe(1);
    const loaded = hiddenWindow();
    loaded.loaded();
    expect(loaded.shown()).toBe(1);
    for (const { clock, window, loaded: load, shown } of [drawn, loaded]) {
      window.emit('ready-to-show');
      load();
      await clock.pass(10_000);
      expect(shown()).toBe(1);
    }
  });

  it('is shown after two seconds while its page still loads', async () => {
    const { clock, shown } = hiddenWindow();
    await clock.pass(1_999);
    expect(shown()).toBe(0);
    await clock.pass(1);
    expect(shown()).toBe(1);
  });

  it('is left alone if it was closed meanwhile', async () => {
    const { clock, window, loaded, shown } = hiddenWindow();
    window.destroyed = true;
    loaded();
    await clock.pass(10_000);
    expect(shown()).toBe(0);
  });
});
