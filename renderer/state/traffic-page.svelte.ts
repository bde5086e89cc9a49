import { readFilter } from '../../main/contract/traffic-filter.ts';
import type { ApiKey } from '../../main/contract/keys.ts';
import type { Project } from '../../main/contract/projects.ts';
import type { Settings } from '../../main/contract/settings.ts';
import type { TrafficDetail, TrafficEntry } from '../../main/contract/traffic.ts';
import { LiveQuery } from '../live/live-query.svelte.ts';
import type { Navigator } from '../navigation/navigator.svelte.ts';
import { formatPlace } from '../navigation/places.ts';
import { formatCounted } from '../time/format.ts';
import { hostnameOf, isHostnameOf } from './entry-look.ts';
import type { SettingsSource } from './settings-query.ts';
import { readArchive } from './traffic-archive.ts';
import { Task } from './task.svelte.ts';
import type { Toasts } from './toasts.svelte.ts';
import { TrafficLog, type TrafficNarrowing } from './traffic-log.svelte.ts';

/** Longer than the time between two presses of a key that is held down. */
export const PASSING_MS = 120;

/** Whose requests are shown. `all`: also those of other projects, and those that reached none. */
export type TrafficScope = 'project' | 'all';

/** What of the traffic is shown. */
export type TrafficPart = 'entries' | 'charts';

/** Minutes that the charts go back. */
export type TrafficRange = '5' | '15' | '30';

export interface TrafficPageOptions extends SettingsSource {
  navigator: Navigator;
  toasts: Toasts;
  /** Reactive; always the same project. */
  project: () => Project;
}

/** The Traffic page. What it shows stands in the address, so that it can be linked to and gone back from. */
export class TrafficPage {
  readonly settings: LiveQuery<Settings>;
  readonly keys: LiveQuery<ApiKey[]>;
  readonly replay: Task<[id: string], TrafficDetail>;
  readonly download: Task<[save: (name: string, pieces: string[]) => void], void>;
  #log = $state.raw() as TrafficLog;
  /** Another list, until it has something to show. */
  #coming: TrafficLog | undefined;
  #paused = $state(false);
  #reading = false;
  #passing: { cancel(): void } | undefined;
  readonly #options: TrafficPageOptions;

  constructor(options: TrafficPageOptions) {
    this.#options = options;
    const { client, changes, time, settings, toasts, project } = options;
    const { id: projectId } = project();
    this.settings = settings;
    this.keys = new LiveQuery({
      changes,
      time,
      read: (signal) => client.keys.list({ projectId }, { signal }),
      concerns: (change) => change.type === 'keys.changed',
    });
    this.replay = new Task(async (id) => {
      const again = await client.traffic.replay({ id });
      this.show(again.id);
      toasts.say(`Sent again: ${again.status === null ? 'no answer' : again.status}.`);
      return again;
    });
    this.download = new Task(async (save) => {
      save(`${project().slug}-traffic.har`, await readArchive(client, this.#narrowing));
    });
    this.#log = this.#open(this.wanted);
  }

  get log(): TrafficLog {
    return this.#log;
  }

  /** The id of the entry that the address names. */
  get item(): string | undefined {
    return this.#options.navigator.place?.item;
  }

  get scope(): TrafficScope {
    return this.#query['of'] === 'all' ? 'all' : 'project';
  }

  get part(): TrafficPart {
    return this.#query['show'] === 'charts' ? 'charts' : 'entries';
  }

  get range(): TrafficRange {
    const { minutes } = this.#query;
    return minutes === '15' || minutes === '30' ? minutes : '5';
  }

  /** The filter of the address, as it is written there. */
  get filter(): string {
    return this.#query['filter'] ?? '';
  }

  /** What is wrong with the filter of the address; without it, the list is as long as ever. */
  get fault(): string | undefined {
    const read = readFilter(this.filter);
    return read.ok ? undefined : read.message;
  }

  /** What the address asks for. */
  get wanted(): TrafficNarrowing {
    return {
      projectId: this.scope === 'all' ? undefined : this.#options.project().id,
      filter: this.fault === undefined ? this.filter.trim() : '',
    };
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Of this project's keys, what people call them by; an id where there is no name. */
  callerOf({ keyId, address }: TrafficEntry): string {
    if (keyId === undefined) return address;
    const key = this.keys.value?.find(({ id }) => id === keyId);
    return key === undefined || key.name === '' ? keyId : key.name;
  }

  /** Where an entry went, as far as that does not go without saying: in a project's list, its base address does. */
  hostOf(entry: TrafficEntry): string {
    const hostname = hostnameOf(entry);
    if (this.scope === 'all') return hostname;
    if (entry.environment === 'staging') return 'staging';
    return isHostnameOf(hostname, this.#options.project().baseUrl.production) ? '' : hostname;
  }

  hrefOf(id: string | undefined): string {
    const { slug } = this.#options.project();
    return formatPlace({
      page: 'traffic',
      project: slug,
      ...(id !== undefined && { item: id }),
      query: this.#query,
    });
  }

  /** Shows what the address asks for; what is shown stays until it is there. */
  follow(): void {
    const { projectId, filter } = this.wanted;
    const isShown = ({ narrowing }: TrafficLog): boolean =>
      narrowing.projectId === projectId && narrowing.filter === filter;
    if (this.#coming !== undefined && isShown(this.#coming)) return;
    this.#coming?.close();
    this.#coming = undefined;
    if (!isShown(this.#log)) this.#coming = this.#open({ projectId, filter });
  }

  narrow(changes: { filter?: string; scope?: TrafficScope; part?: TrafficPart; range?: TrafficRange }): void {
    const { filter, scope, part, range } = changes;
    this.#options.navigator.narrow({
      ...(filter !== undefined && { filter: filter.trim() }),
      ...(scope !== undefined && { of: scope === 'all' ? scope : '' }),
      ...(range !== undefined && { minutes: range === '5' ? '' : range }),
      ...(part !== undefined && { show: part === 'charts' ? part : '' }),
    });
  }

  show(id: string | undefined): void {
    this.#passing?.cancel();
    this.#options.navigator.show(id, { replace: this.item !== undefined && id !== undefined });
  }

  /** Shows one of several entries that the arrows run through, when they stay at it. */
  pass(id: string): void {
    this.#passing?.cancel();
    this.#passing = this.#options.time.realTimer(PASSING_MS, () => this.show(id));
  }

  /** Lets what comes wait until it is asked for. */
  pause(paused: boolean): void {
    this.#paused = paused;
    this.#hold();
  }

  /** Says whether someone is at a place of the list that should not move away. */
  read(reading: boolean): void {
    if (reading === this.#reading) return;
    this.#reading = reading;
    this.#hold();
  }

  /** Forgets all entries, of all projects. */
  async forget(): Promise<void> {
    const { client, toasts } = this.#options;
    const { cleared } = await client.traffic.clear({});
    if (this.item !== undefined) this.show(undefined);
    toasts.say(`Forgot ${formatCounted(cleared, 'entry', 'entries')}.`);
  }

  async record(changes: Partial<Settings['traffic']>): Promise<void> {
    const { client, toasts } = this.#options;
    const before = this.settings.value?.traffic;
    if (before === undefined) return;
    const after = { ...before, ...changes };
    await client.settings.update({ traffic: after });
    toasts.done({
      text: describeRecording(after),
      undo: () => client.settings.update({ traffic: before }),
      undone: describeRecording(before),
      kind: 'recording',
    });
  }

  close(): void {
    this.#passing?.cancel();
    this.#coming?.close();
    this.#log.close();
    this.keys.close();
  }

  get #query(): Readonly<Record<string, string>> {
    return this.#options.navigator.query;
  }

  get #narrowing(): { projectId?: string; filter?: string } {
    const { projectId, filter } = this.wanted;
    return { ...(projectId !== undefined && { projectId }), ...(filter !== '' && { filter }) };
  }

  #hold(): void {
    this.#log.hold(this.#paused || this.#reading);
  }

  #open(narrowing: TrafficNarrowing): TrafficLog {
    const { client, changes, time } = this.#options;
    const log: TrafficLog = new TrafficLog({
      ...narrowing,
      client,
      changes,
      time,
      onready: () => {
        if (this.#coming !== log) return;
        this.#log.close();
        this.#log = log;
        this.#coming = undefined;
        // It is shown from its beginning.
        this.#reading = false;
        this.#hold();
      },
    });
    return log;
  }
}

function describeRecording({ record, bodies }: Settings['traffic']): string {
  if (!record) return 'Recording is off.';
  return bodies ? 'Recording requests with their bodies.' : 'Recording requests without their bodies.';
}
