import type { BaseWindowConstructorOptions } from 'electron';
import { requireReady } from './app.ts';
import { fault } from './driver.ts';
import { createEvent, refuseUnknown, StrictEmitter, strictly } from './strict.ts';

const windows = new Set<StandInBaseWindow>();

/** A window without content that is never shown, and receives the end of a session on Windows. */
class StandInBaseWindow extends StrictEmitter {
  readonly facade = strictly('BaseWindow', this);

  constructor(options: BaseWindowConstructorOptions) {
    super('BaseWindow', ['query-session-end']);
    requireReady('BaseWindow');
    refuseUnknown('BaseWindow', options, ['title', 'show']);
    if (options.show !== false) fault('carries out hidden windows without content only.');
    windows.add(this);
  }

  /** Not part of Electron: Windows ends the session, and waits for an app only if one of its windows asks it to. */
  static endSession(): void {
    for (const window of windows) {
      const event = createEvent('query-session-end', { reasons: ['shutdown'] });
      window.emit('query-session-end', event);
      if (event.defaultPrevented) return;
    }
    process.kill(process.pid, 'SIGKILL');
  }
}

const constructed = new Proxy(StandInBaseWindow, {
  construct: (target, [options = {}]: [BaseWindowConstructorOptions?]) => new target(options).facade,
});

export { constructed as BaseWindow };
