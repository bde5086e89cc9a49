import type { Project } from '../../main/contract/projects.ts';
import type { KeyValueStorage } from './storage.ts';

const STORAGE_KEY = 'vivarium.project';

export interface ProjectSelectionOptions {
  /** Newest first; undefined until they are read. Reactive. */
  list: () => readonly Project[] | undefined;
  /** The slug that the address names, if it names one. Reactive. */
  named: () => string | undefined;
  storage: KeyValueStorage;
}

/**
 * Which project the page is about: the one that the address names, else the one chosen last, else the newest. A project
 * that is given another slug while it is in view stays in view.
 */
export class ProjectSelection {
  #chosenId = $state<string | null>(null);
  /** The projects that were in view, with the slugs that they had then; the latest last. */
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

  /** The slug that the address names and no project has; undefined while that is not known. */
  get missing(): string | undefined {
    const slug = this.#options.named();
    return slug !== undefined && this.#options.list() !== undefined && this.current === undefined ? slug : undefined;
  }

  /** Remembers a project as the one to come back to. */
  choose({ id, slug }: Pick<Project, 'id' | 'slug'>): void {
    this.#seen = [...this.#seen.filter((project) => project.slug !== slug), { id, slug }];
    if (this.#chosenId === id) return;
    this.#chosenId = id;
    this.#options.storage.setItem(STORAGE_KEY, id);
  }
}
