import type { Services } from '../contract/index.ts';
import type { BrowserState, OpenedBrowser, ReachProxy } from '../contract/reach.ts';
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
}): Services['reach'] {
  const { proxy, address, opener, opened } = options;
  return {
    proxy,
    browser: () => ({ ...opener.available(), opened: opened() }),
    async open({ hostname, path }) {
      const reached = address(hostname, path);
      return { url: reached.url, ...(await opener.open(reached)) };
    },
  };
}
