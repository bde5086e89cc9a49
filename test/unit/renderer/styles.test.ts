import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parse, parseCss } from 'svelte/compiler';
import { expect, it } from 'vitest';

/** Global classes that components still style. The list only shrinks: rename the component's class, and remove it here. */
const STILL_STYLED: Record<string, readonly string[]> = {
  'components/breaks/Drills.svelte': ['flow'],
  'components/dns/RecordForm.svelte': ['control', 'field'],
  'components/dns/ZoneSection.svelte': ['tools'],
  'components/domains/AttachPanel.svelte': ['mono'],
  'components/domains/CaaPanel.svelte': ['control'],
  'components/domains/DomainList.svelte': ['field', 'list', 'tools'],
  'components/domains/DomainsPanel.svelte': ['all'],
  'components/domains/RedirectPanel.svelte': ['field'],
  'components/pets/PetCellEditor.svelte': ['control'],
  'components/settings/GroupPanel.svelte': ['field'],
  'components/shared/Badge.svelte': ['moss', 'tinted'],
  'components/shared/ChoiceList.svelte': ['list'],
  'components/shared/List.svelte': ['mono'],
  'components/shared/SplitView.svelte': ['chosen', 'list'],
  'components/traffic/FiltersPopover.svelte': ['control'],
  'views/AcmeView.svelte': ['tools'],
  'views/BreaksView.svelte': ['tinted', 'tools'],
  'views/CertificatesView.svelte': ['tools'],
  'views/DomainsView.svelte': ['back'],
  'views/PetsView.svelte': ['beside', 'list'],
  'views/TrafficView.svelte': ['beside', 'whole-page'],
};

const RENDERER = join(import.meta.dirname, '..', '..', '..', 'renderer');

const read = (path: string): string => readFileSync(join(RENDERER, path), 'utf8');

/** The classes in the selectors of a style sheet, those in `:global(…)` included. */
function classesIn(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  if ('type' in node && node.type === 'ClassSelector' && 'name' in node) found.add(String(node.name));
  for (const child of Object.values(node)) classesIn(child, found);
  return found;
}

const styleSheets = readdirSync(join(RENDERER, 'styles'));
const isGlobal = new Set(styleSheets.flatMap((name) => [...classesIn(parseCss(read(join('styles', name))))]));

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
