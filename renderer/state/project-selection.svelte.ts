import type { Project } from '../../main/contract/projects.ts';
import type { KeyValueStorage } from './storage.ts';

const STORAGE_KEY = 'vivarium.project';

/** Which project the page is about: the one chosen last, else the newest. `list` is reactive, newest first. */
export class ProjectSelection {
  #chosenId = $state<string | null>(null);
  readonly #storage: KeyValueStorage;
  readonly #list: () => readonly Project[] | undefined;

  constructor(list: () => readonly Project[] | undefined, storage: KeyValueStorage) {
    this.#list = list;
    this.#storage = storage;
    this.#chosenId = storage.getItem(STORAGE_KEY);
  }

  get projects(): readonly Project[] {
    return this.#list() ?? [];
  }

  get current(): Project | undefined {
    return this.projects.find((project) => project.id === this.#chosenId) ?? this.projects[0];
  }

  choose(projectId: string): void {
    this.#chosenId = projectId;
    this.#storage.setItem(STORAGE_KEY, projectId);
  }
}
