import type { BrowserState, ReachSnippets, Snippet } from '../../../main/contract/reach.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import type { KeptValues } from '../../shared/session/storage.ts';

/** Where the chosen language or program is kept, for every hostname. */
const KEPT_AS = 'connect.program';

/** The texts by which one hostname is reached, and the browsers that can open it. */
export class Reach {
  readonly texts: LiveQuery<ReachSnippets>;
  readonly browser: LiveQuery<BrowserState>;
  readonly #views: KeptValues;
  #chosen = $state<unknown>();
  /** The selected scheme; by default HTTPS if there is a certificate. */
  #scheme: 'http' | 'https' | undefined;
  readonly scheme = $derived.by(() => (this.texts.value?.url.startsWith('https:') === true ? 'https' : 'http'));

  constructor(source: Source & { views: KeptValues; hostname: string }) {
    const { client, views, hostname } = source;
    this.#views = views;
    this.#chosen = views.read(KEPT_AS);
    this.texts = new LiveQuery(
      source,
      ['projects.changed', 'domains.changed', 'certificates.changed', 'zones.changed'],
      (signal) =>
        client.reach.snippets({ hostname, ...(this.#scheme !== undefined && { scheme: this.#scheme }) }, { signal }),
    );
    // The engine detects installed browsers again on use.
    this.browser = new LiveQuery(source, [], (signal) => client.reach.browser({}, { signal }));
  }

  choose(id: Snippet['id']): void {
    this.#chosen = id;
    this.#views.keep(KEPT_AS, id);
  }

  over(scheme: 'http' | 'https'): void {
    this.#scheme = scheme;
    this.texts.reread('now');
  }

  /** The selected instructions, once loaded: the first ones until others are chosen. */
  get snippet(): Snippet | undefined {
    const snippets = this.texts.value?.snippets;
    return snippets?.find(({ id }) => id === this.#chosen) ?? snippets?.[0];
  }

  close(): void {
    this.texts.close();
    this.browser.close();
  }
}
