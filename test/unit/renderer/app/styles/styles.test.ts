import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type AST, parse, parseCss } from 'svelte/compiler';
import { expect, it } from 'vitest';

/** Global classes that components still style. The list only shrinks: rename the component's class, and remove it here. */
const STILL_STYLED: Record<string, readonly string[]> = {
  'pages/domains/DomainList.svelte': ['field', 'tools'],
  'pages/domains/routing/RedirectPanel.svelte': ['field'],
  'shared/settings/SettingsPanel.svelte': ['field'],
};

const RENDERER = join(import.meta.dirname, '..', '..', '..', '..', '..', 'renderer');

const read = (path: string): string => readFileSync(join(RENDERER, path), 'utf8');

/** The classes in the selectors of a style sheet, those in `:global(…)` included. */
function classesIn(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  if ('type' in node && node.type === 'ClassSelector' && 'name' in node) found.add(String(node.name));
  for (const child of Object.values(node)) classesIn(child, found);
  return found;
}

const styleSheets = readdirSync(join(RENDERER, 'app', 'styles'));
const isGlobal = new Set(styleSheets.flatMap((name) => [...classesIn(parseCss(read(join('app', 'styles', name))))]));

it('components style no class of the global style sheets, which would style the element too', () => {
  const components = readdirSync(RENDERER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.svelte'))
    .toSorted();
  const styled = components.flatMap((path) => {
    const both = [...classesIn(parse(read(path), { modern: true }).css)]
      .filter((name) => isGlobal.has(name))
      .toSorted();
    return both.length === 0 ? [] : [[path.split(sep).join('/'), both] as const];
  });
  expect(Object.fromEntries(styled), 'rename the class; if a listed one is gone, remove it from the list').toEqual(
    STILL_STYLED,
  );
});

/** The selectors of a style sheet, each after the at-rules around it. */
function selectorsIn(css: string, nodes: AST.CSS.Node[] = parseCss(css).children, around = ''): string[] {
  return nodes.flatMap((node) =>
    node.type === 'Rule'
      ? node.prelude.children.map(({ start, end }) => `${around}${css.slice(start, end)}`)
      : node.type === 'Atrule'
        ? selectorsIn(css, node.block?.children ?? [], `${around}@${node.name} ${node.prelude}: `)
        : [],
  );
}

it('every selector of shapes.css is defined once, so that a class is read in one place', () => {
  const all = selectorsIn(read(join('app', 'styles', 'shapes.css')));
  expect(all.filter((selector, index) => all.indexOf(selector) !== index)).toEqual([]);
});
