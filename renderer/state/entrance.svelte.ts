import { readSignInLink, tokenOfFragment } from '../connection/sign-in-link.ts';
import type { Session } from './session.svelte.ts';
import type { KeyValueStorage } from './storage.ts';

const STORAGE_KEY = 'vivarium.token';

export interface EntranceOptions {
  /** This page's own origin. */
  origin: string;
  /** For as long as the tab lives. */
  storage: KeyValueStorage;
  /** Makes a session that signs in with `token`; not started. */
  openSession: (token: string) => Session;
  /** Goes to another Vivarium's page. */
  navigate: (href: string) => void;
}

/** The way in: finds the token, opens a session with it, and asks for a link when there is none or it is refused. */
export class Entrance {
  #session = $state.raw<Session | null>(null);
  #askedAgain = $state(false);
  #fault = $state<string | undefined>(undefined);
  #pasted = '';
  readonly #options: EntranceOptions;

  constructor(options: EntranceOptions) {
    this.#options = options;
  }

  /** The session to show; null while a link is needed. */
  get session(): Session | null {
    const session = this.#session;
    if (session === null) return null;
    const unusable = session.connection.phase === 'refused' && (!session.connection.wasOpen || this.#askedAgain);
    return unusable ? null : session;
  }

  /** Whether a link is needed because the one there was is not taken. */
  get refused(): boolean {
    return this.#session?.connection.phase === 'refused';
  }

  /** What is wrong with what was pasted. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** What was pasted last, so that a refusal does not take it away. */
  get pasted(): string {
    return this.#pasted;
  }

  /**
   * Takes the token out of `fragment`, or the one that this tab remembers. True when the fragment held one, which then
   * must leave the address bar.
   */
  enter(fragment: string): boolean {
    const token = tokenOfFragment(fragment);
    if (token !== null) this.#use(token);
    else if (this.#session === null) {
      const remembered = this.#options.storage.getItem(STORAGE_KEY);
      if (remembered !== null) this.#use(remembered);
    }
    return token !== null;
  }

  /** Signs in with what someone pasted; `fault` says when it cannot be used. */
  paste(text: string): void {
    this.#fault = undefined;
    this.#pasted = text;
    const link = readSignInLink(text, this.#options.origin);
    if (link.kind === 'token') this.#use(link.token);
    else if (link.kind === 'elsewhere') this.#options.navigate(link.href);
    else this.#fault = link.message;
  }

  /** Shows a session that needs no link, because its page has a way of its own to the engine: the desktop's window. */
  admit(session: Session): void {
    this.#session?.stop();
    this.#askedAgain = false;
    this.#session = session;
    session.start();
  }

  /** Leaves a page whose engine no longer takes its token, to paste a new link. */
  askAgain(): void {
    this.#askedAgain = true;
  }

  #use(token: string): void {
    this.#options.storage.setItem(STORAGE_KEY, token);
    this.admit(this.#options.openSession(token));
  }
}
