import { readSignInLink, tokenOfFragment } from '../connection/sign-in-link.ts';
import type { Session } from './session.svelte.ts';
import type { KeyValueStorage } from './storage.ts';

const STORAGE_KEY = 'vivarium.token';

export interface SignInOptions {
  /** This page's own origin. */
  origin: string;
  /** Lasts as long as the tab. */
  storage: KeyValueStorage;
  /** Creates a session that signs in with `token`, not started. */
  openSession: (token: string) => Session;
  /** Navigates to another Vivarium's page. */
  navigate: (href: string) => void;
}

/** The sign-in: finds the token, opens a session with it, and asks for a link if there is none or it is refused. */
export class SignIn {
  #session = $state.raw<Session | null>(null);
  #askedAgain = $state(false);
  #fault = $state<string | undefined>(undefined);
  #pasted = '';
  readonly #options: SignInOptions;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /** The current session; null while a link is needed. */
  get session(): Session | null {
    const session = this.#session;
    if (session === null) return null;
    const unusable = session.connection.phase === 'refused' && (!session.connection.wasOpen || this.#askedAgain);
    return unusable ? null : session;
  }

  /** Whether a link is needed because the last token was refused. */
  get refused(): boolean {
    return this.#session?.connection.phase === 'refused';
  }

  /** The fault of the pasted text. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The last pasted text, kept after a refusal. */
  get pasted(): string {
    return this.#pasted;
  }

  /**
   * Takes the token from `fragment`, or the one stored for this tab. True when it came from the fragment, which the
   * caller must then remove from the address bar.
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

  /** Signs in with the pasted text; `fault` explains why it can't be used. */
  paste(text: string): void {
    this.#fault = undefined;
    this.#pasted = text;
    const link = readSignInLink(text, this.#options.origin);
    if (link.kind === 'token') this.#use(link.token);
    else if (link.kind === 'elsewhere') this.#options.navigate(link.href);
    else this.#fault = link.message;
  }

  /** Shows a session without a link: the desktop window has its own channel to the engine. */
  admit(session: Session): void {
    this.#session?.stop();
    this.#askedAgain = false;
    this.#session = session;
    session.start();
  }

  /** Leaves a session whose token the engine no longer accepts, to ask for a new link. */
  askAgain(): void {
    this.#askedAgain = true;
  }

  #use(token: string): void {
    this.#options.storage.setItem(STORAGE_KEY, token);
    this.admit(this.#options.openSession(token));
  }
}
