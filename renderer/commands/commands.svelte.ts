import { tick } from 'svelte';
import type { IconName } from '../components/shared/icons.ts';
import type { RealTime } from '../time/real-time.ts';
import { isPlain, readPress, type KeyPress } from './shortcut.ts';

/** Something that can be done from anywhere: listed in the palette, and by its shortcut. */
export interface Command {
  /** Unique among all that are offered. */
  id: string;
  /** A verb and what it is done to: "Go to Pets". */
  title: string;
  /** What it is listed under. */
  group: string;
  /** Other words that people look for it by. */
  keywords?: readonly string[];
  shortcut?: string;
  icon?: IconName;
  /** Known by its shortcut only, such as the palette itself. */
  hidden?: boolean;
  run: () => void;
}

/** After this long, `g` alone no longer waits for the second key of `g p`. */
const SEQUENCE_MS_MAX = 1_200;

export interface CommandsOptions {
  time: RealTime;
  isMac: boolean;
  /** Whether shortcuts of single keys are wanted; people who dictate or share a keyboard switch them off (WCAG 2.1.4). */
  singleKeys: () => boolean;
}

type Offer = () => readonly Command[];

/** All that can be done at the moment. Views offer what they can do while they are shown. */
export class Commands {
  #offers = $state.raw<readonly Offer[]>([]);
  /** The same, for what is taken back: a component that goes reads state as it was, without what has come in its place. */
  #current: readonly Offer[] = [];
  #begun = '';
  #timer: { cancel(): void } | null = null;
  #holds = 0;
  #held: KeyPress | undefined;
  readonly isMac: boolean;
  readonly #options: CommandsOptions;

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.isMac = options.isMac;
  }

  /** What is offered, the latest offer first; of one id the latest. */
  get all(): readonly Command[] {
    const offered = this.#offers.toReversed().flatMap((offer) => offer());
    return [...Map.groupBy(offered, ({ id }) => id).values()].flatMap(([latest]) => latest ?? []);
  }

  /** Offers commands until the returned function is called. `list` is read anew each time, so it may be reactive. */
  offer(list: () => readonly Command[]): () => void {
    this.#put([...this.#current, list]);
    return () => this.#put(this.#current.filter((other) => other !== list));
  }

  #put(offers: readonly Offer[]): void {
    this.#current = offers;
    this.#offers = offers;
  }

  /** Does what is offered under that id, for a button far from whoever offers it. */
  run(id: string): void {
    this.all.find((command) => command.id === id)?.run();
  }

  /**
   * Says that more will be offered soon, as while a page is loaded. The first press that nothing takes is kept until the
   * returned function is called, and is taken then by what has come; those after it may have been meant for that, and do nothing.
   */
  hold(): () => void {
    this.#holds++;
    return () => {
      // What has come offers its commands in the same turn.
      void tick().then(() => {
        this.#holds--;
        if (this.#holds > 0 || this.#held === undefined) return;
        const held = this.#held;
        this.#held = undefined;
        this.press(held, false);
      });
    };
  }

  /** Takes a key press; true when it belonged to a shortcut, and nobody else should see it. */
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
