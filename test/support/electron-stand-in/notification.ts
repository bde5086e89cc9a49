import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Notification, NotificationConstructorOptions } from 'electron';
import { requireReady } from './app.ts';
import { tell } from './driver.ts';
import { refuseUnknown, StrictEmitter, strictly } from './strict.ts';

/** The notifications that were shown. As in Electron, one that the program does not hold is garbage, and does not react. */
const notifications: WeakRef<StandInNotification>[] = [];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Clicks the last notification, if the program still holds it; resolves with how many it holds after that. */
export async function clickNotification(): Promise<number> {
  const held = async () => {
    // What this turn has seen is no garbage yet.
    await promisify(setImmediate)();
    collectGarbage();
    return notifications.map((notification) => notification.deref());
  };
  (await held()).at(-1)?.emit('click');
  return (await held()).filter((notification) => notification !== undefined).length;
}

class StandInNotification extends StrictEmitter implements Pick<Notification, 'show'> {
  readonly title: string;
  readonly body: string;

  constructor(options: NotificationConstructorOptions) {
    super('Notification', ['click', 'close', 'failed']);
    requireReady('Notification');
    refuseUnknown('Notification', options, ['title', 'body']);
    this.title = options.title ?? '';
    this.body = options.body ?? '';
  }

  show(): void {
    notifications.push(new WeakRef(this));
    tell({ kind: 'notification', title: this.title, body: this.body });
  }
}

const constructed = new Proxy(StandInNotification, {
  construct: (target, [options]: [NotificationConstructorOptions]) => strictly('Notification', new target(options)),
});
export { constructed as Notification };
