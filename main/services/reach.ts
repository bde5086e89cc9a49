import type { Services } from '../contract/index.ts';
import type { BrowserState, OpenedBrowser, ReachProxy, ReachSnippets } from '../contract/reach.ts';
import type { ReachedAddress } from '../reach/index.ts';

export function createReachServices(options: {
  proxy: () => ReachProxy;
  /** @throws VivariumError `not_found` for what is not served. */
  address: (hostname: string, path?: string) => ReachedAddress;
  opener: {
    open(address: ReachedAddress): Promise<Omit<OpenedBrowser, 'url'>>;
    available(): Omit<BrowserState, 'opened'>;
  };
  opened: () => number;
  snippets: (address: ReachedAddress) => Pick<ReachSnippets, 'snippets' | 'systems'>;
}): Services['reach'] {
  const { proxy, address, opener, opened, snippets } = options;
  return {
    proxy,
    browser: () => ({ ...opener.available(), opened: opened() }),
    async open({ hostname, path }) {
      const reached = address(hostname, path);
      return { url: reached.url, ...(await opener.open(reached)) };
    },
    snippets({ hostname }) {
      const reached = address(hostname);
      const { url: proxyUrl, pacUrl } = proxy();
      return { hostname: reached.hostname, url: reached.url, proxyUrl, pacUrl, ...snippets(reached) };
    },
  };
}
