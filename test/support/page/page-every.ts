import type { Page } from 'playwright-core';
import { factsOf, formatPlace, PAGE_NAMES, type PageName } from '../../../renderer/shared/navigation/places.ts';
import type { Engine } from '../engine.ts';

/** A project whose plan permits domains. */
const FULL = 'happy-paws';
export const FULL_PROJECT = `/projects/${FULL}`;
export const FULL_DOMAIN = 'www.focus.test';

/** Items that pages show one at a time. */
const ITEMS: Partial<Record<PageName, string>> = {
  pets: '1',
  domains: FULL_DOMAIN,
  dns: 'focus.test',
  certificates: FULL_DOMAIN,
  acme: 'forgotten',
  api: 'listPets',
  breaks: 'http.empty-response',
};

/** Every page, with an item where it shows one, and the first one of a project on the plan Free. */
export const EVERY_PAGE = [
  '/projects/demo',
  ...PAGE_NAMES.flatMap((page) => {
    const place = { page, ...(factsOf(page).scope === 'project' && { project: FULL }) };
    const item = ITEMS[page];
    return [formatPlace(place), ...(item === undefined ? [] : [formatPlace({ ...place, item })])];
  }),
];

/** Gives the pages something to show. */
export async function fillEveryPage(engine: Engine): Promise<void> {
  const projects = (await engine.call('projects.list')) as { id: string; slug: string }[];
  const projectId = projects.find(({ slug }) => slug === 'happy-paws')?.id;
  await engine.call('zones.create', { name: 'focus.test' });
  await engine.call('domains.attach', { projectId, hostname: FULL_DOMAIN });
  await engine.call('keys.create', { projectId, name: 'second' });
}

/** Waits until the page has rendered the engine's first answers. */
export const settled = (page: Page) =>
  page.evaluate(`(async () => {
    for (let round = 0; round < 3; round += 1) {
      await fetch('/healthz');
      await new Promise(requestAnimationFrame);
    }
  })()`);
