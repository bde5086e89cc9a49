import { Menu, Tray, Notification } from 'electron';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { Log } from '../base/log.ts';
import type { ChangeEvent } from '../contract/status.ts';
import { type MenuActions, trayStatus, trayTemplate } from './menu.ts';
import type { MainWindow } from './window.ts';
import { sleep } from '../base/clock.ts';
import { type Notice, noticesBetween, readCondition } from './notices.ts';
import type { DesktopMemory } from './window-state.ts';

/**
 * What a user sees of the engine: the tray from its first start on, and the window while it serves. A page that is
 * wanted earlier is shown then.
 */
export function createStage(options: {
  /** The page requested by a link of the system, or null. */
  page: string | null;
  iconsDir: string;
  window: Pick<MainWindow, 'show'>;
  actions: MenuActions;
  /** Begins to notify of the changes of the engine that serves. */
  notify: () => void;
  ended: AbortSignal;
  log: Log;
}) {
  const { iconsDir, window, actions, notify, ended, log } = options;
  let engine: App | null = null;
  let tray: StatusTray | null = null;
  let { page } = options;
  let isWanted = page !== null;

  function show(wanted: string | null): void {
    isWanted = engine === null;
    page = wanted;
    if (engine !== null) window.show(wanted);
  }

  return {
    engine: () => engine,
    hasTray: () => tray !== null,
    removeTray: () => tray?.remove(),
    show,
    /** Whether the window is shown once the engine serves, which `alsoNow` can only add. */
    want: (alsoNow: boolean): boolean => (isWanted ||= alsoNow),
    /** Shows what an engine does, from its start on. */
    follow(started: App): void {
      engine = started;
      const { http, https, dns, control } = started.runtime;
      log.info('Vivarium serves', { http: http.port, https: https.port, dns: dns.port, control: control.url });
      const shown = (tray ??= createTray(iconsDir, actions));
      followStatus(started, ended, (status) => shown.update(status)).catch((error: unknown) =>
        log.warn('The tray no longer follows', { error }),
      );
      notify();
      if (isWanted) show(page);
    },
    /** The engine failed, and another one starts. */
    lose(): void {
      engine = null;
      tray?.update(['Vivarium failed and is starting again']);
    },
  };
}

/** macOS colours template images itself and finds `@2x` files by name. */
const ICONS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'trayTemplate.png', win32: 'vivarium.ico' };

type StatusTray = ReturnType<typeof createTray>;

function createTray(iconsDir: string, actions: MenuActions) {
  const tray = new Tray(join(iconsDir, ICONS[process.platform] ?? 'tray.png'));
  tray.on('click', actions.showWindow);
  return {
    update(status: readonly string[]): void {
      tray.setToolTip(['Vivarium', ...status].join('\n'));
      tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(status, actions)));
    },
    remove: (): void => tray.destroy(),
  };
}

/** Events after which the status may have changed. */
const STATUS_EVENTS: ReadonlySet<ChangeEvent['type']> = new Set([
  'ready',
  'lagged',
  'clock.changed',
  'settings.changed',
  'projects.changed',
  'domains.changed',
]);

/** Calls back with the status now and after every change, until `signal` aborts. */
async function followStatus(
  { services }: Pick<App, 'services'>,
  signal: AbortSignal,
  tell: (status: readonly string[]) => void,
): Promise<void> {
  const context = { signal };
  for await (const { type } of await services.events.watch(undefined, context)) {
    if (signal.aborted) return;
    if (STATUS_EVENTS.has(type)) tell(trayStatus(await services.status.get(undefined, context)));
  }
}

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
