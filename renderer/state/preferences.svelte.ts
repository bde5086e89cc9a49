import { Drafts } from './drafts.svelte.ts';
import { readWidths, type ColumnWidths } from './column-widths.ts';
import type { KeyValueStorage } from './storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEMES)[number];

const THEME_KEY = 'vivarium.theme';
const SINGLE_KEYS_KEY = 'vivarium.single-keys';
const SPLITS_KEY = 'vivarium.splits';
const RECENT_KEY = 'vivarium.recent-commands';

/** The width of a list beside its item, in per cent. */
export const SPLIT_MIN = 15;
export const SPLIT_MAX = 80;

/** Commands that the palette lists first. */
const RECENT_MAX = 6;
const PET_COLUMNS_KEY = 'vivarium.pet-columns';

/** The user's interface preferences, stored in the browser. `applyTheme` applies a theme to the document. */
export class Preferences {
  #theme = $state<ThemeChoice>('system');
  #singleKeys = $state(true);
  #splits = $state.raw<Readonly<Record<string, number>>>({});
  #recent = $state.raw<readonly string[]>([]);
  /** What pages remember about their own views. */
  readonly views: Drafts;
  #petColumns = $state.raw<ColumnWidths>({});
  readonly #storage: KeyValueStorage;
  readonly #applyTheme: (choice: ThemeChoice) => void;

  constructor(storage: KeyValueStorage, applyTheme: (choice: ThemeChoice) => void) {
    this.#storage = storage;
    this.views = new Drafts(storage, 'vivarium.view.');
    this.#applyTheme = applyTheme;
    const remembered = storage.getItem(THEME_KEY);
    this.#theme = THEMES.find((theme) => theme === remembered) ?? 'system';
    this.#singleKeys = storage.getItem(SINGLE_KEYS_KEY) !== 'off';
    this.#splits = readSplits(storage.getItem(SPLITS_KEY));
    this.#recent = readIds(storage.getItem(RECENT_KEY));
    this.#petColumns = readWidths(storage.getItem(PET_COLUMNS_KEY));
    applyTheme(this.#theme);
  }

  /** The width of a page's list in per cent; undefined for the default. */
  splitOf(name: string): number | undefined {
    return this.#splits[name];
  }

  rememberSplit(name: string, share: number | undefined): void {
    const { [name]: _before, ...others } = this.#splits;
    const kept = share === undefined ? others : { ...others, [name]: Math.min(SPLIT_MAX, Math.max(SPLIT_MIN, share)) };
    this.#splits = kept;
    this.#storage.setItem(SPLITS_KEY, JSON.stringify(kept));
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

  /** The widths of the columns of pets. */
  get petColumns(): ColumnWidths {
    return this.#petColumns;
  }

  set petColumns(widths: ColumnWidths) {
    this.#petColumns = widths;
    this.#storage.setItem(PET_COLUMNS_KEY, JSON.stringify(widths));
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
  const ids = readJson(text);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').slice(0, RECENT_MAX) : [];
}

function readSplits(text: string | null): Record<string, number> {
  const splits = readJson(text);
  if (typeof splits !== 'object' || splits === null) return {};
  const shares = Object.entries(splits).filter(
    (entry): entry is [string, number] =>
      typeof entry[1] === 'number' && entry[1] >= SPLIT_MIN && entry[1] <= SPLIT_MAX,
  );
  return Object.fromEntries(shares);
}

function readJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
