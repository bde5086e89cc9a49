import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Says of a violation what `findViolations` reads, and nothing that takes time to find out. */
const OPTIONS: axe.RunOptions = { resultTypes: ['violations'], selectors: false, preload: false };

/** What axe finds wrong with the page as it is now, each with its elements; with `rules`, of these only. */
export async function findViolations(page: Page, rules?: string[]): Promise<string[]> {
  const isThere = await page.evaluate<boolean>("'axe' in window");
  // Through the debugger: the page's own policy lets no foreign script in.
  if (!isThere) await page.evaluate(SOURCE);
  return page.evaluate(
    async (options) => {
      const { axe: tester } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await tester.run(options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
    },
    { ...OPTIONS, ...(rules !== undefined && { runOnly: rules }) },
  );
}
