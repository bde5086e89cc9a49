import type { Notification, NotificationConstructorOptions } from 'electron';
import { requireReady } from './app.ts';
import { tell } from './driver.ts';
import { refuseUnknown, StrictEmitter, strictly } from './strict.ts';

/** The visible notifications, for the test to click. */
export const notifications: StandInNotification[] = [];

class StandInNotification extends StrictEmitter implements Pick<Notification, 'show'> {
  readonly title: string;
  readonly body: string;

  constructor(options: NotificationConstructorOptions) {
    super('Notification', ['click', 'close']);
    requireReady('Notification');
    refuseUnknown('Notification', options, ['title', 'body']);
    this.title = options.title ?? '';
    this.body = options.body ?? '';
  }

  show(): void {
    notifications.push(this);
    tell({ kind: 'notification', title: this.title, body: this.body });
  }
}

const constructed = new Proxy(StandInNotification, {
  construct: (target, [options]: [NotificationConstructorOptions]) => strictly('Notification', new target(options)),
});
export { constructed as Notification };
