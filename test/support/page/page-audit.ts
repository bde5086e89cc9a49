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

/** The part of the DOM that is read here; the tests have no DOM types. */
interface Element {
  tagName: string;
  textContent: string;
  ariaLabel: string | null;
  parentElement: Element;
  checkVisibility(): boolean;
  getAttribute(name: string): string | null;
  getAttributeNames(): string[];
}

/** What was found, and the kinds of elements in which it was searched. */
interface Audit {
  violations: string[];
  kinds: string[];
  /** Whether kinds were among them that were not known. */
  isNew: boolean;
}

/**
 * axe's violations, each with its elements: on the current page, or if kinds of elements are known, in those of other
 * kinds. A kind is the tag, the classes, the role, the states and the presence of a name, of an element and its parent.
 */
export async function findViolations(page: Page, known: ReadonlySet<string> = new Set()): Promise<Audit> {
  const { kinds } = await audit(page, null);
  const others = kinds.filter((kind) => !known.has(kind));
  if (others.length === 0) return { violations: [], kinds, isNew: false };
  const isThere = await page.evaluate<boolean>("'axe' in window");
  // Through the debugger: the page's CSP blocks foreign scripts.
  if (!isThere) await page.evaluate(SOURCE);
  return { ...(await audit(page, known.size === 0 ? [] : others)), isNew: true };
}

/** Runs axe on the elements of these kinds, on the whole page if there are none, or not at all: only lists the kinds. */
const audit = (page: Page, only: readonly string[] | null): Promise<Omit<Audit, 'isNew'>> =>
  page.evaluate(
    async ([options, names]) => {
      const { axe: tester, document } = globalThis as unknown as {
        axe: typeof axe;
        document: { querySelectorAll(selector: string): Iterable<Element> };
      };
      const own = (element: Element): string => {
        const states = element.getAttributeNames().filter((name) => /^(aria-|disabled$|tabindex$)/.test(name));
        const hasName = (element.ariaLabel ?? element.textContent).trim() !== '';
        const words = ['class', 'role', 'type'].map((name) => element.getAttribute(name));
        return [element.tagName, ...words, ...states.toSorted(), hasName].join(' ');
      };
      const kindOf = (element: Element): string => `${own(element.parentElement)} > ${own(element)}`;
      const visible = [...document.querySelectorAll('body, body *')].filter((element) => element.checkVisibility());
      const kinds = new Map(visible.map((element) => [element, kindOf(element)]));
      const find = async (wanted: ReadonlySet<string>): Promise<string[]> => {
        const include = visible.filter((element) => wanted.has(kinds.get(element) ?? ''));
        // What was new may have gone meanwhile.
        if (wanted.size > 0 && include.length === 0) return [];
        const where = wanted.size === 0 ? document : { include };
        const { violations } = await tester.run(where as unknown as axe.ElementContext, options);
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
      };
      return { violations: names === null ? [] : await find(new Set(names)), kinds: [...new Set(kinds.values())] };
    },
    [OPTIONS, only] as const,
  );
