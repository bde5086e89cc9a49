import { Notification } from 'electron';
import type { App } from '../app.ts';
import { sleep } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ChangeEvent } from '../contract/events.ts';
import type { DesktopMemory } from './window-state.ts';
import type { Domain } from '../contract/domains.ts';
import type { Services } from '../contract/index.ts';
import type { CallerUsage } from '../contract/limits.ts';

interface Notice {
  title: string;
  body: string;
}

/** The state that notices are about, at one moment. */
interface Condition {
  /** For each attached domain, the schemes over which it is served. */
  served: ReadonlyMap<string, Domain['serving']>;
  /** When the bans of API keys end, by key id. */
  bans: ReadonlyMap<string, { project: string; until: string }>;
}

type ReadDomain = Pick<Domain, 'hostname' | 'serving'>;
type ReadCaller = Pick<CallerUsage, 'keyId' | 'bannedUntil'>;

/** @throws VivariumError (rejects) when the engine stops meanwhile */
export async function readCondition(
  { projects, domains, limits }: Pick<Services, 'projects' | 'domains' | 'limits'>,
  context: { signal: AbortSignal },
): Promise<Condition> {
  const listed = await projects.list(undefined, context);
  const attached = await domains.list({}, context);
  // Last, because its rejection would be unhandled while domains are awaited.
  const usages = listed.map(async ({ id, name }) => ({
    name,
    callers: await limits.usage({ projectId: id }, context),
  }));
  return conditionOf(attached, await Promise.all(usages));
}

export function conditionOf(
  domains: readonly ReadDomain[],
  projects: readonly { name: string; callers: readonly ReadCaller[] }[],
): Condition {
  const bans = projects.flatMap(({ name, callers }) =>
    callers.flatMap(({ keyId, bannedUntil: until }) =>
      keyId === undefined || until === undefined ? [] : [[keyId, { project: name, until }] as const],
    ),
  );
  return { served: new Map(domains.map(({ hostname, serving }) => [hostname, serving])), bans: new Map(bans) };
}

/** Maximum notices of one kind; more are combined into one with a count. */
const EACH_MAX = 3;

/** The changes from `before` to `after`. A removed domain is not reported, because the user removed it. */
export function noticesBetween(before: Condition, after: Condition): Notice[] {
  const lost = [...after.served].flatMap(([hostname, { http, https }]) => {
    const earlier = before.served.get(hostname);
    if (earlier?.http === true && !http) return [`${hostname} is no longer served`];
    return earlier?.https === true && !https ? [`${hostname} is no longer served over HTTPS`] : [];
  });
  const banned = [...after.bans].filter(([key, { until }]) => before.bans.get(key)?.until !== until);
  return [
    ...few(
      lost.map((title) => ({ title, body: 'Domains says why, and what to do.' })),
      (count) => `${count} domains are no longer served`,
    ),
    ...few(
      banned.map(([, { project, until }]) => ({
        title: `An API key of ${project} is banned`,
        body: `It kept sending requests after refusals. The ban ends at ${until} on the app’s clock; Limits can lift it.`,
      })),
      (count) => `${count} API keys are banned`,
    ),
  ];
}

const few = (notices: readonly Notice[], summary: (count: number) => string): readonly Notice[] =>
  notices.length <= EACH_MAX ? notices : [{ title: summary(notices.length), body: 'The window says which.' }];

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
