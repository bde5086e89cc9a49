import { VivariumError } from '../contract/errors.ts';
import { mention } from '../contract/calls.ts';
import type { Services } from '../contract/index.ts';
import type { BrowserKind, BrowserState, OpenedBrowser, ReachProxy, ReachSnippets } from '../contract/reach.ts';
import { type SystemAnswer, explainElsewhere } from '../base/system/system-names.ts';
import type { ReachedAddress } from '../reach/mapped-hostnames.ts';

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
        throw new VivariumError(
          'unavailable',
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
