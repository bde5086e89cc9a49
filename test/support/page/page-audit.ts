import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Limits axe to the fields that `findViolations` reads, without slow ones; `page-contrast.ts` measures contrast. */
const OPTIONS: axe.RunOptions = {
  resultTypes: ['violations'],
  selectors: false,
  preload: false,
  rules: { 'color-contrast': { enabled: false } },
};

/** axe's violations on the current page, each with its elements. */
export async function findViolations(page: Page): Promise<string[]> {
  const isThere = await page.evaluate<boolean>("'axe' in window");
  // Through the debugger: the page's CSP blocks foreign scripts.
  if (!isThere) await page.evaluate(SOURCE);
  return page.evaluate(async (options) => {
    const { axe: tester } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await tester.run(options);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  }, OPTIONS);
}
