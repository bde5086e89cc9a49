import { readFilter } from '../../../main/contract/traffic-filter.ts';
import type { ApiKey } from '../../../main/contract/callers.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { simulated } from '../../../main/contract/provider-table.ts';
import type { Settings } from '../../../main/contract/settings.ts';
import type { TrafficDetail, TrafficEntry } from '../../../main/contract/traffic.ts';
import { describeFailure } from '../../connection/failure.ts';
import { LiveQuery } from '../../connection/live-query.svelte.ts';
import type { Navigator } from '../../shared/navigation/navigator.svelte.ts';
import { formatPlace, type Place } from '../../shared/navigation/places.ts';
import { formatCounted } from '../../shared/time/format.ts';
import { ArchiveLog } from './archive/archive-log.svelte.ts';
import { ColumnChoice } from '../../shared/lists/column-choice.svelte.ts';
import { ColumnSizes } from '../../shared/lists/column-sizes.svelte.ts';
import type { KeptValues } from '../../shared/session/storage.ts';
import { hostnameIn, hostnameOf } from './entry/entry-look.ts';
import { isArchived, openArchive, type Archive } from './archive/har-reader.ts';
import { limitsHold } from '../../shared/project/project-target.ts';
import { SavedFilters } from './saved-filters.svelte.ts';
import type { SettingsSource } from '../../shared/session/settings-query.ts';
import { readArchive } from './archive/traffic-archive.ts';
import { UnreadableFileError } from '../../shared/display/text-pieces.ts';
import { Task } from '../../shared/controls/task.svelte.ts';
import {
  COLUMNS,
  DEFAULT_COLUMNS,
  FIXED_COLUMNS,
  nextSort,
  readSort,
  sortEntries,
  type ColumnId,
  type EntrySort,
} from './traffic-columns.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';
import { TrafficLog, type TrafficQuery } from './traffic-log.svelte.ts';

/** Longer than the repeat interval of a held key. */
export const SELECT_DELAY_MS = 120;

/** The scope of the list. `all` includes other projects and requests that reached none; `file`: an opened archive. */
export type TrafficScope = 'project' | 'all' | 'file';

/** A tab of the page. */
export type TrafficPart = 'entries' | 'charts' | 'manners' | 'files';

/** The range of the charts, in minutes. */
export type TrafficRange = '5' | '15' | '30';

export interface TrafficPageOptions extends SettingsSource {
  navigator: Navigator;
  toasts: Toasts;
  views: KeptValues;
  /** Reactive; always the same project. */
  project: () => Project;
  /** All projects. Reactive. */
  projects: () => readonly Project[];
}

/** The Traffic page. The address contains its whole view state, so it can be linked and returned to. */
export class TrafficPage {
  readonly settings: LiveQuery<Settings>;
  readonly keys: LiveQuery<ApiKey[]>;
  readonly saved: SavedFilters;
  readonly sizes: ColumnSizes;
  readonly #columns: Record<TrafficScope, ColumnChoice<ColumnId>>;
  readonly replay: Task<[id: string], TrafficDetail>;
  readonly download: Task<[save: (name: string, pieces: string[]) => void], void>;
  log = $state.raw() as TrafficLog;
  /** The next list, until it has something to show. */
  #coming: TrafficLog | undefined;
  paused = $state(false);
  #reading = false;
  readonly entries = $derived.by((): readonly TrafficEntry[] => {
    const { sort } = this;
    const { entries } = this.archived ?? this.log;
    return sort === undefined ? entries : sortEntries(entries, sort, this);
  });
  #opened = $state.raw<ArchiveLog | undefined>();
  openFailure = $state<string | undefined>();
  /** The entry to compare the next one with. */
  base = $state.raw<Pick<TrafficEntry, 'id'> | undefined>();
  /** The ids of two entries to show side by side. */
  compared = $state.raw<{ left: string; right: string } | undefined>();
  #selecting: { cancel(): void } | undefined;
  readonly #options: TrafficPageOptions;
  /** The opened archive, whether or not it is shown. */
  readonly opened: Archive | undefined = $derived.by(() => this.#opened?.archive);

  constructor(options: TrafficPageOptions) {
    this.#options = options;
    const { client, settings, toasts, views, project } = options;
    const { id: projectId } = project();
    this.saved = new SavedFilters(views);
    this.sizes = new ColumnSizes({ views, storageKey: 'traffic.widths', columns: COLUMNS.map(({ id }) => id) });
    const columnsOf = (scope: TrafficScope): ColumnChoice<ColumnId> =>
      new ColumnChoice({
        views,
        storageKey: `traffic.columns.${scope}`,
        all: COLUMNS,
        fixed: FIXED_COLUMNS,
        usual: DEFAULT_COLUMNS[scope],
      });
    this.#columns = { project: columnsOf('project'), all: columnsOf('all'), file: columnsOf('file') };
    this.settings = settings;
    this.keys = new LiveQuery(options, ['keys.changed'], (signal) => client.keys.list({ projectId }, { signal }));
    this.replay = new Task(async (id) => {
      const again = await client.traffic.replay({ id });
      this.show(again.id);
      this.reveal(again.id);
      toasts.say(`Sent again: ${again.status === null ? 'no answer' : again.status}.`);
      return again;
    });
    this.download = new Task(async (save) => {
      save(`${project().slug}-traffic.har`, await readArchive(client, this.#listQuery));
    });
    this.log = this.#openLog(this.wanted);
  }

  /** The id of the entry in the address. */
  get item(): string | undefined {
    return this.#options.navigator.place?.item;
  }

  get scope(): TrafficScope {
    const { of } = this.#query;
    return of === 'all' || (of === 'file' && this.#opened !== undefined) ? of : 'project';
  }

  /** The list of the opened archive while it is shown. */
  get archived(): ArchiveLog | undefined {
    return this.scope === 'file' ? this.#opened : undefined;
  }

  /** An entry of the opened archive; null for one of an archive that was closed. */
  archivedEntry(id: string): TrafficDetail | null | undefined {
    return isArchived(id) ? (this.#opened?.get(id) ?? null) : undefined;
  }

  /** The run of an examination in the address: its id and the number of the run. */
  get examined(): string | undefined {
    return this.#query['examined'];
  }

  /** Opens the requests of that run, which Vivarium has as an archive. */
  openExamined(examined: string): Promise<Archive | undefined> {
    const [id = '', run] = examined.split('.');
    const asked = this.#options.client.examinations.requests({ id, run: Number(run) });
    return this.open(
      asked.then(({ name, har }) => new File([har], name)),
      examined,
    );
  }

  /** Opens an HTTP archive in a separate list; undefined if the file is not one. */
  async open(file: File | Promise<File>, examined = ''): Promise<Archive | undefined> {
    this.openFailure = undefined;
    try {
      const archive = await openArchive(await file);
      this.closeArchive();
      this.#opened = new ArchiveLog(archive, this.#options.time);
      this.setQuery({ scope: 'file', part: 'entries', filter: '' });
      this.#options.navigator.setQuery({ examined });
      return archive;
    } catch (error) {
      this.openFailure = error instanceof UnreadableFileError ? error.message : describeFailure(error);
      return undefined;
    }
  }

  closeArchive(): void {
    if (this.item !== undefined && isArchived(this.item)) this.show(undefined);
    if (this.base !== undefined && isArchived(this.base.id)) this.base = undefined;
    if (this.#opened !== undefined) this.setQuery({ scope: 'project', filter: '' });
    this.#opened = undefined;
  }

  get part(): TrafficPart {
    const { show } = this.#query;
    return show === 'charts' || show === 'manners' || show === 'files' ? show : 'entries';
  }

  get range(): TrafficRange {
    const { minutes } = this.#query;
    return minutes === '15' || minutes === '30' ? minutes : '5';
  }

  /** The columns that the user wants in this scope. */
  get columns(): ColumnChoice<ColumnId> {
    return this.#columns[this.scope];
  }

  /** The order in the address; newest first without one. */
  get sort(): EntrySort | undefined {
    return readSort(this.#query['sort']);
  }

  /** Sorts by a column, reverses the order, or ends the sorting. Without a column, newest first. */
  sortBy(id: ColumnId | undefined): void {
    this.#options.navigator.setQuery({ sort: id === undefined ? '' : nextSort(this.sort, id) });
  }

  get filter(): string {
    return this.#query['filter'] ?? '';
  }

  /** A filter as people read it: a key's name in place of its id, unless another key's name contains it. */
  readable(filter: string): string {
    return filter.replace(/\bkey:(key_\w+)/, (term, id: string) => {
      const keys = this.scope === 'project' ? (this.keys.value ?? []) : [];
      const name = keys.find((key) => key.id === id)?.name ?? '';
      const found = keys.filter((key) => key.name.toLowerCase().includes(name.toLowerCase()));
      return found.length === 1 && !/["',]/.test(name) ? `key:"${name}"` : term;
    });
  }

  /** The fault of the filter in the address; an invalid filter is not applied. */
  get fault(): string | undefined {
    const read = readFilter(this.filter);
    return read.ok ? undefined : read.message;
  }

  /** The list that the address requests. */
  get wanted(): TrafficQuery {
    return {
      projectId: this.scope === 'all' ? undefined : this.#options.project().id,
      filter: this.fault === undefined ? this.filter.trim() : '',
    };
  }

  /** Whether the list shows what the filter in the address asks for. */
  get isCurrent(): boolean {
    return this.archived !== undefined || this.log.query.filter === this.wanted.filter;
  }

  /** The names of this project's keys; the id of a key without a name. For a provider’s API, that of the connection says less. */
  callerOf({ keyId, address, provider }: TrafficEntry): string {
    if (provider !== undefined && keyId !== undefined) return simulated(provider);
    if (keyId === undefined) return address;
    const key = this.keys.value?.find(({ id }) => id === keyId);
    return key === undefined || key.name === '' ? keyId : key.name;
  }

  /** The description of a caller without a key of the entry's project; a target without limits does not use keys. */
  keylessOf({ projectId, requestHeaders }: Pick<TrafficDetail, 'projectId' | 'requestHeaders'>): string {
    const project = this.#options.projects().find(({ id }) => id === projectId);
    const tried = requestHeaders.some(({ name }) => name.toLowerCase() === 'authorization');
    return tried && (project === undefined || limitsHold(project)) ? 'without a valid key' : 'without a key';
  }

  /** The destination of an entry, unless obvious: a project's list omits its base address. */
  hostOf(entry: TrafficEntry): string {
    const hostname = hostnameOf(entry);
    if (this.scope !== 'project') return hostname;
    if (entry.environment === 'staging') return 'staging';
    return hostname === this.hostnameHere ? '' : hostname;
  }

  /** Where requests of an archive are sent from here. */
  get hostnameHere(): string {
    return hostnameIn(this.#options.project().baseUrl.production);
  }

  /** The name of an entry's project, which may have ended with its run; undefined if its host belongs to none. */
  projectOf({ projectId }: TrafficEntry): string | undefined {
    if (projectId === undefined) return undefined;
    return this.#options.projects().find(({ id }) => id === projectId)?.name ?? 'removed';
  }

  hrefOf(id: string): string {
    return formatPlace({ ...this.#place, item: id, query: this.#query });
  }

  /** The address of the list with another filter. */
  hrefOfFilter(filter: string): string {
    return formatPlace({ ...this.#place, query: { ...this.#query, filter } });
  }

  /** The list with another filter and no other choices. */
  placeOfFilter(filter: string): Place {
    return { ...this.#place, query: { of: this.scope === 'all' ? 'all' : '', filter } };
  }

  /** The address of the list of these entries. */
  hrefOfEntries(ids: readonly string[]): string {
    return formatPlace(this.placeOfFilter(`id:${ids.join(',')}`));
  }

  /** The address of a tab, with the current filter. */
  hrefOfPart(part: TrafficPart, scope = this.scope): string {
    const query = { ...this.#query, show: part === 'entries' ? '' : part, of: scope === 'project' ? '' : scope };
    return formatPlace({ ...this.#place, query });
  }

  /** Loads the requested list; the current one remains until then. */
  follow(): void {
    const { projectId, filter } = this.wanted;
    void this.archived?.narrow(filter);
    const isShown = ({ query }: TrafficLog): boolean => query.projectId === projectId && query.filter === filter;
    if (this.#coming !== undefined && isShown(this.#coming)) return;
    this.#coming?.close();
    this.#coming = undefined;
    if (!isShown(this.log)) this.#coming = this.#openLog({ projectId, filter });
  }

  setQuery(changes: { filter?: string; scope?: TrafficScope; part?: TrafficPart; range?: TrafficRange }): void {
    const { filter, scope, part, range } = changes;
    this.#options.navigator.setQuery({
      ...(filter !== undefined && { filter: filter.trim() }),
      ...(scope !== undefined && { of: scope === 'project' ? '' : scope, ...(scope !== 'file' && { examined: '' }) }),
      ...(range !== undefined && { minutes: range === '5' ? '' : range }),
      ...(part !== undefined && { show: part === 'entries' ? '' : part }),
    });
  }

  show(id: string | undefined): void {
    this.#selecting?.cancel();
    this.#options.navigator.show(id, { replace: this.item !== undefined && id !== undefined });
  }

  /** Shows an entry that the user has just sent, even while the list is held. */
  reveal(id: string): void {
    this.log.reveal(id);
  }

  /** Chooses an entry to compare, unchooses it, or compares it with the one chosen before. */
  compare({ id }: Pick<TrafficEntry, 'id'>): void {
    const base = this.base;
    this.base = base === undefined ? { id } : undefined;
    if (base !== undefined && base.id !== id) this.compared = { left: base.id, right: id };
  }

  /** Selects an entry once the arrow keys pause at it. */
  showSoon(id: string): void {
    this.#selecting?.cancel();
    this.#selecting = this.#options.time.realTimer(SELECT_DELAY_MS, () => this.show(id));
  }

  pause(paused: boolean): void {
    this.paused = paused;
    this.#hold();
  }

  /** Sets whether the user is at a row, which should not move. */
  read(reading: boolean): void {
    if (reading === this.#reading) return;
    this.#reading = reading;
    this.#hold();
  }

  /** Clears all entries, of all projects. */
  async forget(): Promise<void> {
    const { client, toasts } = this.#options;
    const { cleared } = await client.traffic.clear({});
    if (this.item !== undefined) this.show(undefined);
    toasts.say(`Cleared ${formatCounted(cleared, 'entry', 'entries')}.`);
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
    this.#selecting?.cancel();
    this.#coming?.close();
    this.log.close();
    this.keys.close();
  }

  get #place(): Pick<Place, 'page' | 'project'> {
    return { page: 'traffic', project: this.#options.project().slug };
  }

  get #query(): Readonly<Record<string, string>> {
    return this.#options.navigator.query;
  }

  get #listQuery(): { projectId?: string; filter?: string } {
    const { projectId, filter } = this.wanted;
    return { ...(projectId !== undefined && { projectId }), ...(filter !== '' && { filter }) };
  }

  #hold(): void {
    this.log.hold(this.paused || this.#reading);
  }

  #openLog(query: TrafficQuery): TrafficLog {
    const { client, changes, time } = this.#options;
    const log: TrafficLog = new TrafficLog({
      ...query,
      client,
      changes,
      time,
      onready: () => {
        if (this.#coming !== log) return;
        this.log.close();
        this.log = log;
        this.#coming = undefined;
        // The new list starts at its top.
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
