import type { Project } from '../../../main/contract/projects.ts';
import type { Settings } from '../../../main/contract/settings.ts';
import type { StatusReport } from '../../../main/contract/status.ts';
import { Connection } from '../../connection/connection.svelte.ts';
import type { Client, Transport } from '../../connection/transport.ts';
import { Runs } from '../project/runs.svelte.ts';
import { Breaks } from './breaks.svelte.ts';
import type { KeptValues, KeyValueStorage } from './storage.ts';
import { LiveQuery } from '../../connection/live-query.svelte.ts';
import { AppClock } from '../time/app-clock.svelte.ts';
import type { RealTime } from '../time/real-time.ts';
import { settingsQuery, type SettingsSource } from './settings-query.ts';
import { UnreadSecrets } from './unread-secrets.svelte.ts';
import { Works } from './works.svelte.ts';

export interface SessionOptions {
  transport: Transport;
  time: RealTime;
  /** The storage of the selected project. */
  storage: KeyValueStorage;
  /** Keeps the secrets of new keys visible across reloads of the tab. */
  drafts: KeptValues;
  /** The slug of the project in the address. Reactive. */
  named: () => string | undefined;
}

/** The page's state while it is signed in to one engine: the connection, and queries shared by all views. */
export class Session {
  readonly time: RealTime;
  readonly clock: AppClock;
  readonly connection: Connection;
  readonly status: LiveQuery<StatusReport>;
  readonly projects: LiveQuery<Project[]>;
  readonly settings: LiveQuery<Settings>;
  readonly breaks: Breaks;
  readonly runs: Runs;
  readonly selection: ProjectSelection;
  readonly secrets: UnreadSecrets;
  readonly works: Works;

  constructor({ transport, time, storage, drafts, named }: SessionOptions) {
    this.time = time;
    this.clock = new AppClock(time);
    this.works = new Works(time, () => this.selection.current?.name);
    this.secrets = new UnreadSecrets(drafts);
    const connection = new Connection({
      transport,
      time,
      // Reading the clock is the engine's cheapest call, and keeps the most important value current.
      pulse: async (client) => this.clock.accept(await client.clock.get()),
    });
    this.connection = connection;
    connection.subscribe((change) => {
      if (change.type === 'everything' || change.type === 'clock.changed') void this.#readClock();
    });
    const { client } = connection;
    const source = { client, changes: connection, time };
    // Counts and warnings depend on everything else.
    this.status = new LiveQuery(
      source,
      () => true,
      (signal) => client.status.get({}, { signal }),
    );
    this.projects = new LiveQuery(source, ['projects.changed'], (signal) => client.projects.list({}, { signal }));
    this.settings = settingsQuery(source);
    this.breaks = new Breaks({ ...source, clock: this.clock });
    this.runs = new Runs(source);
    this.selection = new ProjectSelection({ list: () => this.projects.value, named, storage });
  }

  get client(): Client {
    return this.connection.client;
  }

  /** What its commands begin with in a terminal, in any folder. */
  get command(): string {
    return this.status.value?.command ?? 'vivarium';
  }

  get source(): SettingsSource {
    return { client: this.client, changes: this.connection, time: this.time, settings: this.settings };
  }

  start(): void {
    this.connection.start();
  }

  stop(): void {
    this.connection.stop();
    this.status.close();
    this.projects.close();
    this.settings.close();
    this.breaks.close();
    this.runs.close();
    this.clock.stop();
  }

  async #readClock(): Promise<void> {
    try {
      this.clock.accept(await this.client.clock.get());
    } catch {
      // The next pulse of the connection retries; the page reports a lost connection.
    }
  }
}

const STORAGE_KEY = 'vivarium.project';

export interface ProjectSelectionOptions {
  /** Newest first; undefined until loaded. Reactive. */
  list: () => readonly Project[] | undefined;
  /** The slug in the address, if any. Reactive. */
  named: () => string | undefined;
  storage: KeyValueStorage;
}

/**
 * The current project: the one in the address, otherwise the last selected one, otherwise the newest. A project keeps
 * its selection when its slug changes.
 */
export class ProjectSelection {
  #chosenId = $state<string | null>(null);
  /** Previously selected projects with the slugs they had then; the latest last. */
  #seen: readonly Pick<Project, 'id' | 'slug'>[] = [];
  readonly #options: ProjectSelectionOptions;

  constructor(options: ProjectSelectionOptions) {
    this.#options = options;
    this.#chosenId = options.storage.getItem(STORAGE_KEY);
  }

  get projects(): readonly Project[] {
    return this.#options.list() ?? [];
  }

  get current(): Project | undefined {
    const slug = this.#options.named();
    if (slug !== undefined) {
      const renamedId = this.#seen.findLast((project) => project.slug === slug)?.id;
      return (
        this.projects.find((project) => project.slug === slug) ??
        this.projects.find((project) => project.id === renamedId)
      );
    }
    return this.projects.find((project) => project.id === this.#chosenId) ?? this.projects[0];
  }

  /** A slug in the address without a project; undefined until loaded. */
  get missing(): string | undefined {
    const slug = this.#options.named();
    return slug !== undefined && this.#options.list() !== undefined && this.current === undefined ? slug : undefined;
  }

  /** Stores a project as the one to return to. */
  choose({ id, slug }: Pick<Project, 'id' | 'slug'>): void {
    this.#seen = [...this.#seen.filter((project) => project.slug !== slug), { id, slug }];
    if (this.#chosenId === id) return;
    this.#chosenId = id;
    this.#options.storage.setItem(STORAGE_KEY, id);
  }
}
