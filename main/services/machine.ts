import type { Services } from '../contract/index.ts';
import type {
  LanStatus,
  BrowserKind,
  BrowserState,
  OpenedBrowser,
  ReachProxy,
  ReachSnippets,
} from '../contract/reach.ts';
import type { Wish } from '../machine/change.ts';
import type { Machine } from '../machine/machine.ts';
import type { ReachedAddress } from '../reach/mapped-hostnames.ts';
import type { Effects } from './dependencies.ts';
import { unavailable } from '../contract/errors.ts';
import { mention } from '../contract/calls.ts';
import { type SystemAnswer, explainElsewhere } from '../base/system/system-names.ts';

export function createMachineServices(options: {
  machine: Machine & { wishFor(hostname: string): Wish };
  /** @throws VivariumError `not_found` for a hostname that is not served. */
  address: (hostname: string) => ReachedAddress;
  effects: Pick<Effects, 'emit'>;
}): Services['machine'] {
  const { machine, address, effects } = options;
  const wishFor = (hostname: string): Wish => machine.wishFor(address(hostname).hostname);

  async function changed<Result>(change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } finally {
      // Also after a failure: part of the change may have been made.
      effects.emit('machine.changed');
    }
  }

  return {
    plan: ({ hostname }) => machine.plan(wishFor(hostname)),
    apply: ({ hostname, plan }) => changed(machine.apply(wishFor(hostname), plan)),
    async undo(input) {
      const result = await changed(machine.undo({ ids: input?.ids, take: input?.take ?? false }));
      effects.emit('ca.changed');
      return result;
    },
    status: () => machine.status(),
    export: () => ({ fileName: 'vivarium-machine-changes.json', text: machine.export() }),
  };
}

export function createLanServices(lan: {
  status(): LanStatus;
  start(wanted: string, keep?: boolean): Promise<void>;
  stop(): Promise<void>;
}): Services['lan'] {
  return {
    status: lan.status,
    async start(input) {
      await lan.start(input?.interface ?? '', input?.keep ?? false);
      return lan.status();
    },
    async stop() {
      await lan.stop();
      return lan.status();
    },
  };
}

export function createReachServices(options: {
  proxy: () => ReachProxy;
  /** @throws VivariumError `not_found` for a hostname that is not served. */
  address: (
    hostname: string,
    asked?: { path?: string | undefined; scheme?: ReachedAddress['scheme'] | undefined },
  ) => ReachedAddress;
  opener: {
    open(address: ReachedAddress, kind?: BrowserKind): Promise<Omit<OpenedBrowser, 'url'>>;
    available(): Omit<BrowserState, 'opened' | 'preview'>;
  };
  opened: () => number;
  /** Opens a window of the desktop app; null when there is no desktop. */
  preview: ((address: ReachedAddress) => Promise<void>) | null;
  askSystem: (hostname: string) => Promise<SystemAnswer>;
  snippets: (address: ReachedAddress) => Pick<ReachSnippets, 'direct' | 'snippets' | 'pac'>;
}): Services['reach'] {
  const { proxy, address, opener, opened, preview, askSystem, snippets } = options;
  return {
    proxy,
    browser: () => ({ ...opener.available(), opened: opened(), preview: preview !== null }),
    async open({ hostname, path, browser }) {
      const reached = address(hostname, { path });
      return { url: reached.url, ...(await opener.open(reached, browser)) };
    },
    async preview({ hostname, path }) {
      if (preview === null) {
        throw unavailable(
          `Preview windows need the desktop app, which is not running. Open a browser instead: ${mention('reach.open', { hostname })}.`,
        );
      }
      const reached = address(hostname, { path });
      await preview(reached);
      return { url: reached.url };
    },
    async lookup(input) {
      const { hostname, url } = address(input.hostname);
      const answer = await askSystem(hostname);
      const elsewhere = explainElsewhere(hostname, answer);
      const { addresses, hosts } = answer;
      return {
        hostname,
        path: new URL(url).pathname,
        addresses: [...addresses],
        ...(hosts !== null && { hosts }),
        ...(elsewhere !== null && {
          elsewhere: {
            ...elsewhere,
            fix:
              elsewhere.fix ?? `Let this system resolve it to this machine: ${mention('machine.plan', { hostname })}.`,
          },
        }),
      };
    },
    snippets({ hostname, scheme, language }) {
      const reached = address(hostname, { scheme });
      const texts = snippets(reached);
      const { url: proxyUrl, pacUrl, dohUrl } = proxy();
      return {
        hostname: reached.hostname,
        url: reached.url,
        secure: address(hostname).scheme === 'https',
        proxyUrl,
        pacUrl,
        dohUrl,
        ...texts,
        snippets: texts.snippets.filter(({ id, language: own }) => [undefined, id, own].includes(language)),
      };
    },
  };
}
