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
  const { id: projectId } = await engine.project('happy-paws');
  await engine.call('zones.create', { name: 'focus.test' });
  await engine.call('domains.attach', { projectId, hostname: FULL_DOMAIN });
  await engine.call('keys.create', { projectId, name: 'second' });
}

/**
 * Makes the project's names, limits and paths as long as they can be, and bans the demo key; returns the pages to look
 * at. Beside what `fillEveryPage` gives.
 */
export async function fillWithLongTexts(engine: Engine): Promise<string[]> {
  const { id: projectId } = await engine.project(FULL);
  const zone = 'focus.test';
  const hostname = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(50)}.${zone}`;
  await engine.call('domains.attach', { projectId, hostname });
  const value = engine.app.runtime.cnameTarget;
  await engine.call('records.put', { zone, name: hostname.slice(0, -zone.length - 1), type: 'CNAME', value });
  await engine.call('domains.verify', { hostname });
  await engine.call('domains.setPrimary', { projectId, hostname });
  await engine.call('pets.create', { projectId, name: 'W'.repeat(1_000), categoryId: 1 });
  await engine.call('keys.create', { projectId, name: 'W'.repeat(100) });
  const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
  await engine.call('projects.update', { projectId, name: 'W'.repeat(100), plan: 'enterprise', limits });
  await engine.call('settings.update', { caaIdentity: { domain: `${hostname.slice(0, -zone.length)}vivarium.ca` } });
  // The last 20 of them are refused.
  for (let count = 0; count < 80; count += 1) await engine.api({ path: `/v1/pets?search=${'W'.repeat(900)}<script>` });
  const { items } = (await engine.call('traffic.list', { limit: 1 })) as { items: { id: string }[] };
  return [
    ...EVERY_PAGE.map((path) => path.replace(FULL_DOMAIN, hostname)),
    ...['/keys-and-limits', '/traffic', `/traffic/${items[0]?.id}`].map((path) => `/projects/demo${path}`),
  ];
}

/** A placeholder that stays fails what the test expects, not this wait. */
const ROUNDS_MAX = 600;

/** Waits until the page has rendered the engine's first answers, and shows no placeholder. */
export const settled = (page: Page) =>
  page.evaluate(`(async () => {
    const waits = () => document.querySelector('[aria-label$=": loading"]') !== null;
    for (let round = 0; round < 3 || (round < ${ROUNDS_MAX} && waits()); round += 1) {
      await fetch('/healthz');
      await new Promise(requestAnimationFrame);
    }
  })()`);
