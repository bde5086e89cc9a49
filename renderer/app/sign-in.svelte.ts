import { admissionOfFragment, readSignInLink, type Admission } from '../connection/sign-in-link.ts';
import type { Session } from '../shared/session/session.svelte.ts';
import type { KeyValueStorage } from '../shared/session/storage.ts';

const STORAGE_KEY = 'vivarium.token';

export interface SignInOptions {
  origin: string;
  /** Lasts as long as the tab. */
  storage: KeyValueStorage;
  /** Creates a session that signs in with `token`, not started. */
  openSession: (token: string) => Session;
  /** Exchanges a ticket for a token; null when it is invalid. */
  redeem: (ticket: string) => Promise<string | null>;
  /** Asks the other tabs of this origin for a token; null when none is signed in. */
  askNeighbours: () => Promise<string | null>;
  /** Navigates to another Vivarium's page. */
  navigate: (href: string) => void;
}

/** The sign-in: finds the token, opens a session with it, and asks for a link if there is none or it is refused. */
export class SignIn {
  #session = $state.raw<Session | null>(null);
  #askedAgain = $state(false);
  /** The fault of the link, or of the pasted text. */
  fault = $state<string | undefined>(undefined);
  /** The last pasted text, kept after a refusal. */
  pasted = '';
  #token: string | null = null;
  /**
   * Whether a ticket is being exchanged or another tab asked. The result is a session, a fault, or a request for a
   * link.
   */
  redeeming = $state(false);
  readonly #options: SignInOptions;
  /** Whether a link is needed because the last token was refused. */
  readonly refused: boolean = $derived.by(() => this.#session?.connection.phase === 'refused');

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

  /** The token to sign other tabs in with; null while there is no connection with it. */
  get token(): string | null {
    return this.#session?.connection.phase === 'open' ? this.#token : null;
  }

  /**
   * Takes the ticket or token from `fragment`, or the token stored for this tab. True when it came from the fragment,
   * which the caller must then remove from the address bar.
   */
  enter(fragment: string): boolean {
    const admission = admissionOfFragment(fragment);
    if (admission !== null) this.#take(admission);
    else this.#useRemembered();
    return admission !== null;
  }

  /** Signs in with the pasted text; `fault` explains why it can't be used. */
  paste(text: string): void {
    this.fault = undefined;
    this.pasted = text;
    const link = readSignInLink(text, this.#options.origin);
    if (link.kind === 'fault') this.fault = link.message;
    else if (link.kind === 'elsewhere') this.#options.navigate(link.href);
    else this.#take(link);
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

  #take(admission: Admission): void {
    if (admission.kind === 'token') this.#use(admission.token);
    else void this.#exchange(admission.ticket);
  }

  async #exchange(ticket: string): Promise<void> {
    this.redeeming = true;
    try {
      const token = await this.#options.redeem(ticket);
      if (token !== null) this.#use(token);
      else {
        this.#useRemembered();
        this.fault = 'This link has been used, or is too old. Ask for a new one with vivarium open.';
      }
    } catch {
      this.#useRemembered();
      this.fault = 'Vivarium does not answer. Start it, and ask for a new link.';
    } finally {
      this.redeeming = false;
    }
  }

  #useRemembered(): void {
    const remembered = this.#session === null ? this.#options.storage.getItem(STORAGE_KEY) : null;
    if (remembered !== null) this.#use(remembered);
    else if (this.#session === null) void this.#followNeighbour();
  }

  async #followNeighbour(): Promise<void> {
    this.redeeming = true;
    const token = await this.#options.askNeighbours();
    this.redeeming = false;
    if (token !== null && this.#session === null) this.#use(token);
  }

  #use(token: string): void {
    this.fault = undefined;
    this.#token = token;
    this.#options.storage.setItem(STORAGE_KEY, token);
    this.admit(this.#options.openSession(token));
  }
}
