import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with the page as it is now, each with its elements; with `rules`, of these only. */
export async function findViolations(page: Page, rules?: string[]): Promise<string[]> {
  const isThere = await page.evaluate<boolean>("'axe' in window");
  // Through the debugger: the page's own policy lets no foreign script in.
  if (!isThere) await page.evaluate(axe.source);
  return page.evaluate(async (wanted) => {
    const { axe: tester } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await tester.run({
      resultTypes: ['violations'],
      ...(wanted !== undefined && { runOnly: wanted }),
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  }, rules);
}
