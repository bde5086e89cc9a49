import type { NativeTheme, Shell } from 'electron';
import { existsSync } from 'node:fs';
import { tell } from './driver.ts';
import { createEvent, strictly, StrictEmitter } from './strict.ts';

export const shell = strictly('shell', {
  openExternal(url) {
    tell({ kind: 'opened', what: url });
    return Promise.resolve();
  },
  openPath(path) {
    if (!existsSync(path)) return Promise.resolve('The folder is not there.');
    tell({ kind: 'opened', what: path });
    return Promise.resolve('');
  },
} satisfies Partial<Shell>);

export const nativeTheme = strictly('nativeTheme', { shouldUseDarkColors: false } satisfies Partial<NativeTheme>);

/** As in Electron, the first listener decides whether the end of a session on Linux is ever delayed. */
class StandInPowerMonitor extends StrictEmitter {
  #delays = false;

  constructor() {
    super('powerMonitor', ['suspend', 'resume', 'shutdown']);
    this.once('newListener', () => {
      // The listener is added after this event.
      this.#delays = this.listenerCount('shutdown') > 0;
      this.on('newListener', (event: string) => {
        if (event === 'shutdown') this.#delays = true;
      });
    });
  }

  /** Not part of Electron: the session ends, and waits for an app only if that asks it to. */
  endSession(): void {
    const event = createEvent('shutdown', {});
    if (this.#delays) this.emit('shutdown', event);
    if (!event.defaultPrevented) process.kill(process.pid, 'SIGKILL');
  }
}

export const powerMonitor = strictly('powerMonitor', new StandInPowerMonitor());
