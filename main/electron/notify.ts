import { Notification } from 'electron';
import type { App } from '../app.ts';
import { sleep } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ChangeEvent } from '../contract/status.ts';
import { type Notice, noticesBetween, readCondition } from './notices.ts';
import type { DesktopMemory } from './window-state.ts';

/** Events after which a domain may no longer be served, or a key be banned. */
const EVENTS: ReadonlySet<ChangeEvent['type']> = new Set([
  'lagged',
  'domains.changed',
  'certificates.changed',
  'projects.changed',
  'limits.changed',
  'clock.changed',
]);

/** The delay before reading, which takes longer with thousands of domains. */
const LOOK_AFTER_MS = 500;

/**
 * Shows a notification of the system for each notice, until `signal` aborts.
 * @param onFault called when a reading fails; the next event reads again
 */
async function notifyOfChanges(
  { services }: Pick<App, 'services'>,
  { signal, onClick, onFault }: { signal: AbortSignal; onClick: () => void; onFault: (error: unknown) => void },
): Promise<void> {
  const context = { signal };
  const events = await services.events.watch(undefined, context);

  let condition = await readCondition(services, context);
  let isDue = false;
  async function look(): Promise<void> {
    await sleep(LOOK_AFTER_MS, signal);
    isDue = false;
    if (signal.aborted) return;
    const before = condition;
    condition = await readCondition(services, context);
    for (const notice of noticesBetween(before, condition)) showNotification(notice, onClick);
  }

  for await (const { type } of events) {
    if (signal.aborted) return;
    if (isDue || !EVENTS.has(type)) continue;
    isDue = true;
    look().catch(onFault);
  }
}

/** Notifies of the engine's changes while the setting is on; to be called after each change of either. */
export function createNotifier(options: {
  engine: () => App | null;
  memory: DesktopMemory;
  ended: AbortSignal;
  log: Log;
  onClick: () => void;
}): () => void {
  const { memory, ended, log, onClick } = options;
  let notifying: AbortController | null = null;
  return () => {
    notifying?.abort();
    notifying = null;
    const engine = options.engine();
    if (engine === null || !memory.get().notifies) return;
    notifying = new AbortController();
    const signal = AbortSignal.any([notifying.signal, ended]);
    const onFault = (error: unknown) => {
      if (!signal.aborted) log.warn('Notifications do not follow', { error });
    };
    notifyOfChanges(engine, { signal, onClick, onFault }).catch(onFault);
  };
}

/** Held while they are shown: otherwise garbage, and with them their clicks. */
const shown = new Set<Notification>();

export function showNotification(notice: Notice, onClick: () => void): void {
  const notification = new Notification(notice);
  const forget = () => void shown.delete(notification);
  shown.add(notification);
  notification.on('click', onClick);
  // Not every system tells when one is closed.
  notification.on('click', forget).on('close', forget).on('failed', forget);
  notification.show();
}
