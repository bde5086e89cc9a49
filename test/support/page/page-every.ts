import type { Page } from 'playwright-core';
import type { Engine } from '../engine.ts';

/** The path of a project whose plan permits domains. */
export const FULL_PROJECT = '/projects/happy-paws';
export const FULL_DOMAIN = 'www.focus.test';

/** Every page, with an item where it shows one. */
export const EVERY_PAGE = [
  '/projects',
  '/projects/demo',
  FULL_PROJECT,
  `${FULL_PROJECT}/pets`,
  `${FULL_PROJECT}/pets/1`,
  `${FULL_PROJECT}/traffic`,
  `${FULL_PROJECT}/general`,
  `${FULL_PROJECT}/domains`,
  `${FULL_PROJECT}/domains/${FULL_DOMAIN}`,
  `${FULL_PROJECT}/keys-and-limits`,
  '/dns',
  '/dns/focus.test',
  '/certificates',
  `/certificates/${FULL_DOMAIN}`,
  '/acme',
  '/acme/forgotten',
  `${FULL_PROJECT}/api-reference/listPets`,
  '/other-devices',
  '/break-it',
  '/break-it/http.empty-response',
  '/doctor',
  '/settings',
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
