import type { KeyValueStorage } from './storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEMES)[number];

const THEME_KEY = 'vivarium.theme';
const SINGLE_KEYS_KEY = 'vivarium.single-keys';
const RECENT_KEY = 'vivarium.recent-commands';

/** Commands that the palette lists first. */
const RECENT_MAX = 6;

/** The user's interface preferences, stored in the browser. `applyTheme` applies a theme to the document. */
export class Preferences {
  #theme = $state<ThemeChoice>('system');
  #singleKeys = $state(true);
  #recent = $state.raw<readonly string[]>([]);
  readonly #storage: KeyValueStorage;
  readonly #applyTheme: (choice: ThemeChoice) => void;

  constructor(storage: KeyValueStorage, applyTheme: (choice: ThemeChoice) => void) {
    this.#storage = storage;
    this.#applyTheme = applyTheme;
    const remembered = storage.getItem(THEME_KEY);
    this.#theme = THEMES.find((theme) => theme === remembered) ?? 'system';
    this.#singleKeys = storage.getItem(SINGLE_KEYS_KEY) !== 'off';
    this.#recent = readIds(storage.getItem(RECENT_KEY));
    applyTheme(this.#theme);
  }

  /** Ids of commands chosen in the palette, the latest first. */
  get recentCommands(): readonly string[] {
    return this.#recent;
  }

  rememberCommand(id: string): void {
    this.#recent = [id, ...this.#recent.filter((other) => other !== id)].slice(0, RECENT_MAX);
    this.#storage.setItem(RECENT_KEY, JSON.stringify(this.#recent));
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

function readIds(text: string | null): string[] {
  try {
    const ids: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').slice(0, RECENT_MAX) : [];
  } catch {
    return [];
  }
}
