import type { App } from '../app.ts';
import type { ChangeEvent } from '../contract/events.ts';
import type { StatusReport } from '../contract/status.ts';

/** A menu is as wide as its longest line. */
const LINE_LENGTH_MAX = 80;
const WARNINGS_MAX = 3;

/** What the tray's menu says of a running Vivarium: where it serves, and what is not as it should be. */
export function trayStatus({ ports, warnings }: Pick<StatusReport, 'ports' | 'warnings'>): string[] {
  const listening = [
    `HTTP ${ports.http}`,
    `HTTPS ${ports.https}`,
    ...(ports.dns === undefined ? [] : [`DNS ${ports.dns}`]),
  ];
  const surplus = warnings.length - WARNINGS_MAX;
  return [
    `Serving ${listening.join(', ')}`,
    ...warnings.slice(0, WARNINGS_MAX).map((warning) => `! ${shorten(warning)}`),
    ...(surplus > 0 ? [`! and ${surplus} more`] : []),
  ];
}

const shorten = (text: string): string =>
  text.length <= LINE_LENGTH_MAX ? text : `${text.slice(0, LINE_LENGTH_MAX - 1).trimEnd()}…`;

/** After these, warnings may have come or gone. */
const TELLING: ReadonlySet<ChangeEvent['type']> = new Set(['ready', 'lagged', 'clock.changed', 'settings.changed']);

/** Tells what the tray shows, now and after every change of it, until `signal` is aborted. */
export async function followStatus(
  { services }: Pick<App, 'services'>,
  signal: AbortSignal,
  tell: (status: readonly string[]) => void,
): Promise<void> {
  const context = { signal };
  for await (const { type } of await services.events.watch(undefined, context)) {
    if (signal.aborted) return;
    if (TELLING.has(type)) tell(trayStatus(await services.status.get(undefined, context)));
  }
}
