import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type AST, parse } from 'svelte/compiler';

const RENDERER = join(import.meta.dirname, '..', '..', '..', 'renderer');

/** The narrowest text, in CSS pixels; a shorter one is shown whole, on one line. */
const WIDTH_MIN = 100;

/** Verbatim text, not behind a dialog, beside the button that copies it: `CodeBlock`, `CopyText`, `JsonBlock`. */
const SHOWN = `[...document.querySelectorAll('button[aria-label^="Copy "]')].flatMap((button) => {
  const block = button.parentElement;
  const text = block.querySelector(':scope > :is(code, [role=group])');
  return text?.checkVisibility() && text.closest('[inert]') === null ? [{ block, text, what: button.ariaLabel.slice('Copy '.length) }] : [];
})`;

/** What the visible texts are: "the secret of my key". */
export const copiedTexts = (page: Page): Promise<string[]> => page.evaluate(`${SHOWN}.map(({ what }) => what)`);

/** The texts that are too narrow to read or that something covers or cuts off. */
export const unreadableCopiedTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`${SHOWN}.flatMap(({ block, text, what }) => {
    text.scrollIntoView({ block: 'center' });
    const { left, top, width, height } = text.getBoundingClientRect();
    const isOneLine = text.getClientRects().length === 1 && height < 2 * parseFloat(getComputedStyle(text).lineHeight);
    const isWhole = isOneLine && text.scrollWidth <= Math.ceil(width);
    if (width < ${WIDTH_MIN} && !isWhole) return [what + ' is ' + Math.round(width) + ' px wide'];
    const isFree = [4, Math.min(width, ${WIDTH_MIN}) - 4].every((x) =>
      block.contains(document.elementFromPoint(left + x, top + Math.min(height, 24) / 2)));
    return isFree ? [] : [what + ' is covered'];
  })`);

interface Named {
  path: string;
  what: RegExp;
}

/** Every use of the components that show verbatim text, with a pattern of its name. */
export function copiedTextsInSources(): Named[] {
  const components = readdirSync(RENDERER, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.svelte'),
  );
  return components.flatMap((path) => {
    const { fragment } = parse(readFileSync(join(RENDERER, path), 'utf8'), { modern: true });
    return usesIn(fragment).map((what) => ({ path, what }));
  });
}

function usesIn(node: unknown): RegExp[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = isUse(node) ? node.attributes.flatMap((each) => patternOf(each)) : [];
  return [...own, ...Object.values(node).flatMap(usesIn)];
}

const isUse = (node: object): node is AST.Component =>
  'type' in node &&
  node.type === 'Component' &&
  'name' in node &&
  /^(?:Code|Json)Block$|^CopyText$/.test(`${node.name}`);

function patternOf(attribute: AST.Component['attributes'][number]): RegExp[] {
  if (attribute.type !== 'Attribute' || attribute.name !== 'what' || !Array.isArray(attribute.value)) return [];
  const parts = attribute.value.map((part) =>
    part.type === 'Text' ? part.data.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : '.+',
  );
  return [new RegExp(`^${parts.join('')}$`)];
}
