import { untrack } from 'svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { StoreTrust } from '../../../main/contract/certificates.ts';
import type { BrowserKind, BrowserState, SystemNames } from '../../../main/contract/reach.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { unicodeUrl } from '../domains/unicode-name.ts';
import type { Connecting } from './connecting.svelte.ts';
import type { Toasts } from '../session/toasts.svelte.ts';

/** A hostname that parts of the page show, and how many of them do. */
interface Looked {
  query: LiveQuery<SystemNames>;
  users: number;
}

interface OpenerOptions extends Source {
  toasts: Pick<Toasts, 'say' | 'attempt'>;
  /** Shows the other ways to a hostname. */
  connecting: Pick<Connecting, 'open'>;
  /** The port for HTTP, once it is known. */
  port: () => number | undefined;
  /** Opens an address in a new tab of this browser. */
  show: (url: string) => void;
}

/**
 * Opens hostnames: in a throw-away browser that finds and trusts them, or by a plain link where this system does. What
 * the system knows is asked once for each hostname that is shown, its trust stores and browsers once for all.
 */
export class Opener {
  readonly #source: OpenerOptions;
  readonly #looked = new SvelteMap<string, Looked>();
  readonly #opening = new SvelteSet<string>();
  #trust = $state.raw<LiveQuery<StoreTrust[]>>();
  #browser = $state.raw<LiveQuery<BrowserState>>();

  constructor(source: OpenerOptions) {
    this.#source = source;
  }

  /** Asks about a hostname while it is shown: until the returned function is called. Call it in an effect. */
  look(hostname: string): () => void {
    return untrack(() => this.#look(hostname));
  }

  #look(hostname: string): () => void {
    const { client } = this.#source;
    this.#trust ??= new LiveQuery(this.#source, ['ca.changed'], (signal) => client.ca.trustStatus({}, { signal }));
    this.#browser ??= new LiveQuery(this.#source, [], (signal) => client.reach.browser({}, { signal }));
    const looked = this.#looked.get(hostname) ?? {
      query: new LiveQuery(this.#source, ['machine.changed', 'domains.changed'], (signal) =>
        client.reach.lookup({ hostname }, { signal }),
      ),
      users: 0,
    };
    looked.users++;
    this.#looked.set(hostname, looked);
    return () => {
      if (--looked.users > 0) return;
      looked.query.close();
      this.#looked.delete(hostname);
    };
  }

  /** Why this system resolves the hostname to another machine, and the fix. */
  elsewhere(hostname: string): SystemNames['elsewhere'] {
    return this.#looked.get(hostname)?.query.value?.elsewhere;
  }

  /** The address that any browser of this system opens without a warning; undefined where one would not. */
  plainUrl(hostname: string, url: string): string | undefined {
    const found = this.#looked.get(hostname)?.query.value;
    if (found === undefined) return undefined;
    const resolves = isLocalhost(hostname) || (found.addresses.length > 0 && found.elsewhere === undefined);
    if (!resolves || (!url.startsWith('http:') && !this.#isTrusted)) return undefined;
    return URL.parse(found.path, url)?.href;
  }

  /** Why nothing can open an address; undefined where a link or a browser can, and until it is known. */
  problemOf(hostname: string, url: string): string | undefined {
    const plain = this.plainUrl(hostname, url) ?? this.overHttp(hostname);
    return plain === undefined ? this.#browser?.value?.problem : undefined;
  }

  /** The address over HTTP that any browser opens, where no throw-away browser can be opened; undefined elsewhere. */
  overHttp(hostname: string): string | undefined {
    const port = this.#source.port();
    if (this.#browser?.value?.problem === undefined || !isLocalhost(hostname) || port === undefined) return undefined;
    return `http://${hostname}:${port}${this.#looked.get(hostname)?.query.value?.path ?? '/'}`;
  }

  /** Shows the ways to a hostname, from the first that works: without a browser or a preview, from one program. */
  connect(hostname: string): void {
    const { problem, preview } = this.#browser?.value ?? {};
    this.#source.connecting.open(hostname, problem === undefined || preview === true ? undefined : 'program');
  }

  isOpening(hostname: string): boolean {
    return this.#opening.has(hostname);
  }

  /** Opens the hostname in a throw-away browser of this kind, by default the first one found. */
  async open(hostname: string, kind?: BrowserKind): Promise<void> {
    if (this.#opening.has(hostname)) return;
    const { client, toasts, show } = this.#source;
    const instead = { label: 'Connect…', run: () => this.connect(hostname) };
    const plain = this.overHttp(hostname);
    if (plain !== undefined) {
      show(plain);
      toasts.say(`Opened ${plain} in this browser, over HTTP: no other can be opened where Vivarium runs.`, instead);
      return;
    }
    this.#opening.add(hostname);
    const open = async (): Promise<void> => {
      const { url, browser, trust } = await client.reach.open({
        hostname,
        ...(kind !== undefined && { browser: kind }),
      });
      const known = trust === 'root' ? 'trusts the root' : 'accepts this project’s certificates';
      toasts.say(
        `Opened ${unicodeUrl(url)}: ${lowerFirst(browser)} with a profile that ${known}, and is deleted when it closes.`,
      );
    };
    await toasts.attempt('No browser was opened.', open, instead);
    this.#opening.delete(hostname);
  }

  close(): void {
    this.#trust?.close();
    this.#browser?.close();
    for (const { query } of this.#looked.values()) query.close();
  }

  /** Any of them may be the one of the browser that follows the link. */
  get #isTrusted(): boolean {
    const stores = this.#trust?.value?.filter(({ state }) => state !== 'unavailable') ?? [];
    return stores.length > 0 && stores.every(({ state, handshake }) => state === 'trusted' && handshake !== 'refused');
  }
}

/** Browsers resolve these names by themselves (RFC 6761 §6.3). */
const isLocalhost = (hostname: string): boolean => hostname.endsWith('.localhost');

/** “The browser” of an environment variable has no other name. */
const lowerFirst = (name: string): string => (name.startsWith('The ') ? `the ${name.slice(4)}` : name);
