import type { Component } from 'svelte';
import { factsOf, headingOf, PAGE_NAMES, type PageName, tabsOf } from '../shared/navigation/places.ts';
import type { EngineViewProps, ProjectViewProps } from '../shared/session/page-view.ts';

/** Every view of a page. All but Home share a chunk that loads later, so the first page appears at once. */
const VIEWS = import.meta.glob<{ default: Component<EngineViewProps & Partial<ProjectViewProps>> }>(
  '../pages/**/*View.svelte',
);

export function loadView(page: PageName) {
  const load = VIEWS[`../pages/${factsOf(page).view}.svelte`];
  if (load === undefined) throw new Error(`The page ${page} has no view.`);
  return load();
}

/** Loads every page, so shortcut keys find it ready. A failed load is retried when the page is opened. */
export function loadPages(): void {
  for (const load of Object.values(VIEWS)) load().catch(() => undefined);
}

/** The entries of the rail. `pages`: the page, or all of its tabs. */
export const RAIL_PAGES = PAGE_NAMES.flatMap((page) => {
  const { rail, icon, builtIn = false } = factsOf(page);
  return rail === undefined
    ? []
    : [{ page, pages: tabsOf(page), title: rail.name ?? headingOf(page), icon, builtIn, ...rail }];
});
