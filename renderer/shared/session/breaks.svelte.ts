import { placesOf, shareText } from '../../../main/contract/break-words.ts';
import type { RunningBreak } from '../../../main/contract/breaks.ts';
import { formatDuration } from '../../../main/contract/duration.ts';
import { titledFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import type { AppClock } from '../time/app-clock.svelte.ts';
import { formatCounted, formatSpan } from '../time/format.ts';
import type { Toasts } from './toasts.svelte.ts';

/** A running drill among the breaks, and its project; as in the contract, whose module is too large for the page. */
export const DRILL = 'drill';

/** The tabs beside the catalogue, by their item. */
export const BREAK_TABS: Readonly<Record<string, string>> = {
  running: 'Running',
  examine: 'Examine',
  [DRILL]: 'Drills',
};

/** The running breaks, shared by all pages, and their repair. */
export class Breaks {
  readonly list: LiveQuery<RunningBreak[]>;
  readonly #client: Client;
  readonly #clock: Pick<AppClock, 'nowMs'>;
  /** Ordered by their end, soonest first. */
  readonly running: readonly RunningBreak[] = $derived.by(() => this.list.value ?? []);
  /** Those that still strike. */
  readonly striking: readonly RunningBreak[] = $derived.by(() => this.running.filter(({ done = false }) => !done));

  constructor(source: Source & { clock: Pick<AppClock, 'nowMs'> }) {
    const { client, clock } = source;
    this.#client = client;
    this.#clock = clock;
    this.list = new LiveQuery(source, ['breaks.changed'], async (signal) =>
      inOrder(await client.breaks.list({}, { signal })),
    );
  }

  find(id: string | undefined): RunningBreak | undefined {
    return this.running.find((running) => running.id === id);
  }

  /** `projectId`: of the hostname. */
  at(hostname: string, projectId?: string): readonly RunningBreak[] {
    return this.striking.filter(({ on }) => covers(on, hostname, projectId));
  }

  /** Those of everything, of a project, or of one of its hostnames; a drill is its project's. */
  of(id: string): readonly RunningBreak[] {
    return this.striking.filter(({ on, projectId }) =>
      projectId === undefined ? on.hostname === undefined : projectId === id,
    );
  }

  /** The break that affects answers with a record, by its full name. */
  ofRecord(name: string, type: string): RunningBreak | undefined {
    return this.at(name).find(({ entry, on }) => /^(?:dns|domain)\./.test(entry) && (on.type ?? type) === type);
  }

  /** Reports a break that was just started; Undo repairs it. */
  started(started: RunningBreak, toasts: Toasts): void {
    this.list.amend((all) => inOrder([...all.filter(({ id }) => id !== started.id), started]));
    toasts.done({
      text: `${started.title}: ${reachOf(started)}, for ${formatSpan(Date.parse(started.until) - Date.parse(started.startedAt))}.`,
      undo: () => this.#client.breaks.stop({ id: started.id }),
      undone: `Repaired: ${started.title}.`,
    });
  }

  /** Repairs them, each whatever becomes of the others; Undo breaks the same again for the rest of their time. */
  async repair(toasts: Toasts, ...which: readonly RunningBreak[]): Promise<void> {
    const answers = await Promise.allSettled(which.map(({ id }) => this.#client.breaks.stop({ id })));
    const repaired = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    this.list.amend((all) => all.filter(({ id }) => !repaired.some((other) => other.id === id)));
    const breaks = repaired.filter(({ entry }) => entry !== DRILL);
    if (breaks.length < repaired.length) toasts.say('The drill has ended.');
    if (breaks.length > 0)
      toasts.done({
        text:
          breaks.length === 1
            ? `Repaired: ${breaks[0]?.title}.`
            : `Repaired ${formatCounted(breaks.length, 'break', 'breaks')}.`,
        undo: () => this.again(breaks),
        undone: 'Broken again.',
      });
    const refused = answers.find((answer) => answer.status === 'rejected');
    if (refused === undefined) return;
    const left = formatCounted(which.length - repaired.length, 'break is', 'breaks are');
    const what = repaired.length === 0 ? 'Nothing was repaired.' : `${left} not repaired.`;
    toasts.fail(titledFailure(what, refused.reason));
  }

  /**
   * Starts breaks again for the rest of their time and of their first N, and returns them; those that are done or would
   * have ended by now stay ended.
   */
  async again(breaks: readonly RunningBreak[]): Promise<RunningBreak[]> {
    const started: RunningBreak[] = [];
    for (const { entry, on, first, after, nth, rate, seed, parameters, until, seen, struck, done } of breaks) {
      const leftMs = Date.parse(until) - this.#clock.nowMs;
      if (leftMs < 1_000 || done === true) continue;
      const left = { ...(first !== undefined && { first: first - struck }), after: Math.max(0, after - seen) };
      const rule = { entry, on, ...left, nth, rate, seed, parameters, for: formatDuration(leftMs) };
      started.push(await this.#client.breaks.start(rule));
    }
    return started;
  }

  close(): void {
    this.list.close();
  }
}

const inOrder = (list: readonly RunningBreak[]): RunningBreak[] =>
  list.toSorted((a, b) => Date.parse(a.until) - Date.parse(b.until));

/** Whether a break for `on` can strike a hostname of a project; one without a hostname strikes all. */
export function covers(
  { hostname: broken, projectId: of }: RunningBreak['on'],
  hostname: string,
  projectId?: string,
): boolean {
  if (of !== undefined) return of === projectId;
  if (broken === undefined || broken === hostname) return true;
  return broken.startsWith('*.') && hostname.endsWith(broken.slice(1));
}

/** What a break selects: `POST · /v1/pets · shop.acme.test`. */
export const placeOf = (running: Pick<RunningBreak, 'on' | 'project'>): string =>
  placesOf(running).join(' · ') || 'everything';

/** With how much of that it breaks: `shop.acme.test, 20 %`. */
export const reachOf = (running: RunningBreak): string => [placeOf(running), ...shareOf(running)].join(', ');

/** How much of that it breaks, and how often it did: `the first 2 · 1 of 1 struck`, `2 of 2 struck · done`. */
export function countOf(running: RunningBreak): string {
  const { seen, struck, done = false } = running;
  const times = seen === 0 ? [] : [`${struck} of ${seen} struck`];
  return (done ? [...times, 'done'] : [...shareOf(running), ...times]).join(' · ');
}

/** How much a break strikes; nothing for one that strikes always. */
const shareOf = (running: RunningBreak): string[] => [shareText(running)].filter((share) => share !== 'all');
