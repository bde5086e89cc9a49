import { KeptValues } from './storage.ts';
import type { KeyValueStorage } from './storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEMES)[number];

const THEME_KEY = 'vivarium.theme';
const SINGLE_KEYS_KEY = 'vivarium.single-keys';

/** The user's interface preferences, stored in the browser. `applyTheme` applies a theme to the document. */
export class Preferences {
  #theme = $state<ThemeChoice>('system');
  #singleKeys = $state(true);
  /** What pages remember about their own views; each validates what it reads. */
  readonly views: KeptValues;
  readonly #storage: KeyValueStorage;
  readonly #applyTheme: (choice: ThemeChoice) => void;

  constructor(storage: KeyValueStorage, applyTheme: (choice: ThemeChoice) => void) {
    this.#storage = storage;
    this.views = new KeptValues(storage, 'vivarium.view.');
    this.#applyTheme = applyTheme;
    const remembered = storage.getItem(THEME_KEY);
    this.#theme = THEMES.find((theme) => theme === remembered) ?? 'system';
    this.#singleKeys = storage.getItem(SINGLE_KEYS_KEY) !== 'off';
    applyTheme(this.#theme);
  }

  /** `system`: follows the system's setting. */
  get theme(): ThemeChoice {
    return this.#theme;
  }

  set theme(choice: ThemeChoice) {
    this.#theme = choice;
    this.#storage.setItem(THEME_KEY, choice);
    this.#applyTheme(choice);
  }

  /** Whether single-key shortcuts are active; those with Ctrl or Command always are. */
  get singleKeys(): boolean {
    return this.#singleKeys;
  }

  set singleKeys(wanted: boolean) {
    this.#singleKeys = wanted;
    this.#storage.setItem(SINGLE_KEYS_KEY, wanted ? 'on' : 'off');
  }
}
