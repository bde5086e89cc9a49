import type { Project } from '../../../main/contract/projects.ts';
import type { KeyValueStorage } from './storage.ts';

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
