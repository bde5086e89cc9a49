import { tick } from 'svelte';
import type { IconName } from '../display/icons.ts';
import type { RealTime } from '../time/real-time.ts';
import { isPlain, readPress, type KeyPress } from './shortcut.ts';

/** A command available from anywhere: listed in the palette and reachable by its shortcut. */
export interface Command {
  /** Unique among all offered commands. */
  id: string;
  /** A verb and its object: "Go to Pets". */
  title: string;
  /** What it acts on or belongs to, beside the title. */
  detail?: string;
  group: string;
  keywords?: readonly string[];
  shortcut?: string;
  icon?: IconName;
  /** Hidden from the palette, such as the command that opens it. */
  hidden?: boolean;
  /** Listed only when typed text matches: there are many of its kind. */
  searched?: boolean;
  run: () => void;
}

/** `g` alone stops waiting for the second key of `g p` after this long. */
const SEQUENCE_MS_MAX = 1_200;

/** An awaited command is dropped if no page offers it within this time. */
const AWAITED_MS_MAX = 5_000;

export interface CommandsOptions {
  time: RealTime;
  isMac: boolean;
  /** Single-key shortcuts; users who dictate or share a keyboard switch them off (WCAG 2.1.4). */
  singleKeys: () => boolean;
}

type Offer = () => readonly Command[];

/** All commands available now. Views offer theirs while they are shown. */
export class Commands {
  #offers = $state.raw<readonly Offer[]>([]);
  /**
   * The same list for removal: a component being destroyed reads the old state without depending on its replacement.
   */
  #current: readonly Offer[] = [];
  #begun = '';
  #timer: { cancel(): void } | null = null;
  #holds = 0;
  #awaited = $state.raw<{ id: string; cancel(): void } | null>(null);
  #held: KeyPress | undefined;
  readonly isMac: boolean;
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.isMac = options.isMac;
  }

  /** Offered commands, the latest first, one per id. */
  get all(): readonly Command[] {
    const offered = this.#offers.toReversed().flatMap((offer) => offer());
    return [...Map.groupBy(offered, ({ id }) => id).values()].flatMap(([latest]) => latest ?? []);
  }

  /** Offers commands until the returned function is called. `list` runs on every read, so it may be reactive. */
  offer(list: () => readonly Command[]): () => void {
    this.#put([...this.#current, list]);
    return () => this.#put(this.#current.filter((other) => other !== list));
  }

  #put(offers: readonly Offer[]): void {
    this.#current = offers;
    this.#offers = offers;
  }

  /** Runs the command with that id, for a button far from the component that offers it. */
  run(id: string): void {
    this.all.find((command) => command.id === id)?.run();
  }

  /** Runs a command of the page that is being opened, as soon as the page offers it; see `runAwaited`. */
  runLater(id: string): void {
    this.#awaited?.cancel();
    const { cancel } = this.#options.time.realTimer(AWAITED_MS_MAX, () => (this.#awaited = null));
    this.#awaited = { id, cancel };
  }

  /** Runs the awaited command once it is offered. Call it in an effect: it reads the offers. */
  runAwaited(): void {
    const awaited = this.#awaited;
    if (awaited === null) return;
    const command = this.all.find(({ id }) => id === awaited.id);
    if (command === undefined) return;
    awaited.cancel();
    this.#awaited = null;
    // After the page has taken the focus, which the command may move.
    void tick().then(command.run);
  }

  /**
   * Announces commands that are still loading. The first unhandled key press is kept until the returned function is
   * called, then handled by the new commands. Later presses do nothing: they may have been meant for the same command.
   */
  hold(): () => void {
    this.#holds++;
    return () => {
      // The loaded page offers its commands in the same turn.
      void tick().then(() => {
        this.#holds--;
        if (this.#holds > 0 || this.#held === undefined) return;
        const held = this.#held;
        this.#held = undefined;
        this.press(held, false);
      });
    };
  }

  /** Handles a key press; true when it belonged to a shortcut and must go no further. */
  press(event: KeyPress, typing: boolean): boolean {
    const press = readPress(event, this.isMac);
    if (press === null) return false;
    if (this.#held !== undefined && !typing && isPlain(press)) return true;
    const pressed = this.#begun === '' ? press : `${this.#begun} ${press}`;
    this.#forget();
    const listening = this.all.filter(({ shortcut }) => shortcut !== undefined && this.#listens(shortcut, typing));
    const found =
      listening.find(({ shortcut }) => shortcut === pressed) ?? listening.find(({ shortcut }) => shortcut === press);
    if (found !== undefined) {
      found.run();
      return true;
    }
    if (listening.some(({ shortcut }) => shortcut?.startsWith(`${press} `))) {
      this.#begun = press;
      this.#timer = this.#options.time.realTimer(SEQUENCE_MS_MAX, () => this.#forget());
      return true;
    }
    if (this.#holds === 0 || typing || !isPlain(press) || !this.#options.singleKeys()) return false;
    this.#held ??= event;
    return true;
  }

  #listens(shortcut: string, typing: boolean): boolean {
    return !isPlain(shortcut) || (!typing && this.#options.singleKeys());
  }

  #forget(): void {
    this.#timer?.cancel();
    this.#begun = '';
  }
}
