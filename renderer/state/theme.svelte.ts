import type { KeyValueStorage } from './storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEMES)[number];

const STORAGE_KEY = 'vivarium.theme';

/** Which theme the page wears. `apply` puts a choice on the document; `system` means: as the system says. */
export class Theme {
  #choice = $state<ThemeChoice>('system');
  readonly #storage: KeyValueStorage;
  readonly #apply: (choice: ThemeChoice) => void;

  constructor(storage: KeyValueStorage, apply: (choice: ThemeChoice) => void) {
    this.#storage = storage;
    this.#apply = apply;
    const remembered = storage.getItem(STORAGE_KEY);
    this.#choice = THEMES.find((theme) => theme === remembered) ?? 'system';
    apply(this.#choice);
  }

  get choice(): ThemeChoice {
    return this.#choice;
  }

  set choice(choice: ThemeChoice) {
    this.#choice = choice;
    this.#storage.setItem(STORAGE_KEY, choice);
    this.#apply(choice);
  }
}
