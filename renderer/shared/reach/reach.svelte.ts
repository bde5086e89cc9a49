import type { BrowserKind, BrowserState, ReachSnippets, Snippet, SystemNames } from '../../../main/contract/reach.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Task } from '../controls/task.svelte.ts';
import type { Toasts } from '../session/toasts.svelte.ts';

/** Ways to reach one hostname from this machine: in a browser, from programs, system-wide. */
export class Reach {
  readonly texts: LiveQuery<ReachSnippets>;
  readonly browser: LiveQuery<BrowserState>;
  readonly #system: LiveQuery<SystemNames>;
  readonly opening: Task;
  readonly previewing: Task;
  #chosen = $state<Snippet['id']>('curl');
  /** The selected scheme; by default HTTPS if there is a certificate. */
  #scheme: 'http' | 'https' | undefined;
  #kind: BrowserKind | undefined;

  constructor(source: Source & { toasts: Pick<Toasts, 'say'>; hostname: string }) {
    const { client, toasts, hostname } = source;
    this.texts = new LiveQuery(source, {
      read: (signal) =>
        client.reach.snippets({ hostname, ...(this.#scheme !== undefined && { scheme: this.#scheme }) }, { signal }),
      concerns: ({ type }) =>
        ['projects.changed', 'domains.changed', 'certificates.changed', 'zones.changed'].includes(type),
    });
    this.browser = new LiveQuery(source, {
      read: (signal) => client.reach.browser({}, { signal }),
      // The engine detects installed browsers again on use.
      concerns: () => false,
    });
    this.#system = new LiveQuery(source, {
      read: (signal) => client.reach.lookup({ hostname }, { signal }),
      concerns: ({ type }) => type === 'machine.changed',
    });
    this.opening = new Task(async () => {
      try {
        const { url, browser, trust } = await client.reach.open({
          hostname,
          ...(this.#kind !== undefined && { browser: this.#kind }),
        });
        const known = trust === 'root' ? 'trusts the root' : 'accepts this project’s certificates';
        toasts.say(
          `Opened ${url}: ${lowerFirst(browser)} with a profile that ${known}, and is deleted when it closes.`,
        );
      } finally {
        this.browser.reread();
      }
    });
    this.previewing = new Task(() => client.reach.preview({ hostname }));
  }

  /** Opens the hostname in a browser of this kind, by default in the first one found. */
  open(kind?: BrowserKind): void {
    this.#kind = kind;
    void this.opening.start();
  }

  /** Why this system resolves the hostname to another machine, and the fix. */
  get elsewhere(): SystemNames['elsewhere'] {
    return this.#system.value?.elsewhere;
  }

  get canPreview(): boolean {
    return this.browser.value?.preview === true;
  }

  get chosen(): Snippet['id'] {
    return this.#chosen;
  }

  choose(id: Snippet['id']): void {
    this.#chosen = id;
  }

  get scheme(): 'http' | 'https' {
    return this.texts.value?.url.startsWith('https:') === true ? 'https' : 'http';
  }

  over(scheme: 'http' | 'https'): void {
    this.#scheme = scheme;
    this.texts.reread('now');
  }

  /** The selected instructions, once loaded. */
  get snippet(): Snippet | undefined {
    return this.texts.value?.snippets.find(({ id }) => id === this.#chosen);
  }

  close(): void {
    this.texts.close();
    this.browser.close();
    this.#system.close();
  }
}

/** “The browser” of an environment variable has no other name. */
const lowerFirst = (name: string): string => (name.startsWith('The ') ? `the ${name.slice(4)}` : name);
