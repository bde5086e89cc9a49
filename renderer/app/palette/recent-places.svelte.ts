import { unicodeOf } from '../../shared/domains/unicode-name.ts';
import type { Command } from '../../shared/navigation/commands.svelte.ts';
import { factsOf, formatPlace, headingOf, PAGES, type Place, readPlace } from '../../shared/navigation/places.ts';
import { BREAK_TABS } from '../../shared/session/breaks.svelte.ts';
import type { KeptValues } from '../../shared/session/storage.ts';
import type { Named, Navigation } from './catalogue.ts';
import { RECENT } from './find-commands.ts';

/** How many things that were visited last are kept; the one that is shown is not listed. */
const KEPT_MAX = 6;

const KEPT_AS = 'places';

/** The pages whose items have a name besides their id. */
const NAMED = ['domains', 'limits', 'dns', 'certificates', 'breaks'];

/** The things that were visited last: projects, and what has a page of its own and a name, such as a domain. */
export class RecentPlaces {
  #addresses = $state.raw<readonly string[]>([]);
  readonly #views: KeptValues;

  constructor(views: KeptValues) {
    this.#views = views;
    const kept = views.read(KEPT_AS);
    this.#addresses = Array.isArray(kept) ? kept.filter((each) => typeof each === 'string').slice(0, KEPT_MAX) : [];
  }

  note({ page, project, item: shown }: Place): void {
    const item = NAMED.includes(page) ? shown : undefined;
    if (item === undefined && project === undefined) return;
    const owner = project === undefined ? {} : { project };
    const address = formatPlace(item === undefined ? { page: 'home', ...owner } : { page, ...owner, item });
    if (this.#addresses[0] === address) return;
    this.#addresses = [address, ...this.#addresses.filter((other) => other !== address)].slice(0, KEPT_MAX);
    this.#views.keep(KEPT_AS, this.#addresses);
  }

  /** Ways to the things of these projects and of the engine, by name, the latest first. */
  commands(
    { projects, breaks, keys }: Pick<Named, 'projects' | 'breaks' | 'keys'>,
    { here, go }: Navigation,
  ): Command[] {
    return this.#addresses.flatMap((address) => {
      const place = readPlace(address, '');
      if (place === null || (here !== null && formatPlace({ ...here, query: {} }) === address)) return [];
      const owner = projects.find(({ slug }) => slug === place.project);
      if (factsOf(place.page).scope === 'project' && owner === undefined) return [];
      const { item } = place;
      const title =
        item === undefined
          ? owner?.name
          : place.page === 'breaks'
            ? (breaks.find(({ id }) => id === item)?.title ?? BREAK_TABS[item])
            : place.page === 'limits'
              ? keys.find(({ key }) => key.id === item)?.key.name
              : NAMED.includes(place.page)
                ? unicodeOf(item)
                : undefined;
      if (title === undefined) return [];
      return [
        {
          id: `place ${address}`,
          title,
          detail: item === undefined ? 'Project' : [headingOf(place.page), owner?.name].filter(Boolean).join(' · '),
          group: RECENT,
          icon: item === undefined ? ('project' as const) : PAGES[place.page].icon,
          searched: true,
          run: () => go(place),
        },
      ];
    });
  }
}
