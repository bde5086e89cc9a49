import type { BreakEntry } from '../../../main/contract/breaks.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { ApiKey } from '../../../main/contract/callers.ts';
import { PLAN_IDS, PLANS } from '../../../main/contract/plans.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { IconName } from '../../shared/display/icons.ts';
import { factsOf, PAGE_NAMES, PAGES, type PageName, type Place } from '../../shared/navigation/places.ts';
import type { Command } from '../../shared/navigation/commands.svelte.ts';
import { SECTION_NAMES, sectionOf } from '../../shared/settings/settings-table.ts';
import { unicodeOf } from '../../shared/domains/unicode-name.ts';
import { type Family, fold } from './find-commands.ts';

export interface Named {
  projects: readonly Project[];
  current: Project | undefined;
  domains: readonly Domain[];
  zones: readonly { name: string }[];
  keys: readonly { key: ApiKey; projectId: string }[];
  breaks: readonly BreakEntry[];
}

export interface Navigation {
  here: Place | null;
  go: (place: Place) => void;
  /** Goes there, and runs a command of that page as soon as the page offers it. */
  runAt: (place: Place, commandId: string) => void;
}

/** Actions of pages, by the id under which each page offers them, and further words that find them. */
const ACTIONS: readonly (readonly [page: PageName, id: string, title: string, icon: IconName, words?: string])[] = [
  ['home', 'connect', 'Connect to the main address', 'link', 'browser curl program device'],
  ['pets', 'add-pet', 'Add a pet', 'add', 'new create'],
  ['pets', 'import-pets', 'Import pets', 'upload', 'csv json file'],
  ['pets', 'seed-pets', 'Add made-up pets', 'made', 'generate seed'],
  ['limits', 'new-key', 'New API key', 'add', 'create secret token'],
  ['limits', 'reset-counters', 'Reset all counters', 'reset', 'limits 429'],
  ...PLAN_IDS.map((id) => {
    const { title, domains } = PLANS[id];
    return ['limits', `plan-${id}`, `Change to ${title}`, 'limits', `plan ${domains ? 'up' : 'down'}grade`] as const;
  }),
  ['domains', 'domain-attach', 'Attach a domain', 'add', 'hostname new'],
  ['project', 'deploy', 'Deploy now', 'send'],
  ['project', 'remove-project', 'Remove the project', 'remove', 'delete'],
  ['traffic', 'filter-traffic', 'Filter the traffic', 'filter', 'search find'],
  ['traffic', 'traffic-charts', 'Show the charts', 'overview', 'latency'],
  ['traffic', 'download-har', 'Download the entries as HAR', 'download'],
  ['traffic', 'forget-traffic', 'Clear all traffic', 'remove', 'clear delete'],
  ['dns', 'zone-new', 'Create a zone', 'add', 'new'],
  ['dns', 'ask', 'Query the DNS server', 'send', 'dig ask resolve'],
  ['acme', 'acme-limits', 'Switch the ACME limits on or off', 'acme', 'let’s encrypt'],
  ['authority', 'root-extend', 'Extend the root by a suffix', 'add', 'ca'],
];

/** Parts of pages that have no command. */
const PARTS: readonly (readonly [place: Place, title: string, icon: IconName, words: string])[] = [
  [{ page: 'authority' }, 'Trust the root on this machine', 'certificates', 'ca store https untrust'],
  [{ page: 'acme' }, 'Connect an ACME client', 'acme', 'certbot caddy lego acme.sh directory let’s encrypt'],
  [{ page: 'breaks', item: 'drill' }, 'Drills', 'breaks', 'practise scenario'],
  [{ page: 'devices' }, 'Open hostnames on a phone or tablet', 'devices', 'mobile qr lan network'],
  [{ page: 'breaks', item: 'examine' }, 'Examined test suites', 'breaks', 'examine faults tests'],
  [{ page: 'domains', query: { show: 'redirects' } }, 'Redirects', 'redirect', '301'],
  [{ page: 'domains', query: { show: 'configuration' } }, 'Configuration of the domains', 'domains', 'json'],
];

/** Settings by their label, with the page and the panel that have them. */
const SETTING_FIELDS: readonly { page: PageName; label: string; panel: string; keywords?: readonly string[] }[] = [
  ...SECTION_NAMES.map(sectionOf).flatMap(({ title, page, rows }) =>
    Object.values(rows).map((row) => ({ ...row, page, panel: title })),
  ),
  { page: 'settings', label: 'Colours', panel: 'Interface', keywords: ['theme', 'colors'] },
  { page: 'settings', label: 'Single-key shortcuts', panel: 'Interface', keywords: ['keyboard'] },
  { page: 'project', label: 'Name', panel: 'Name and address', keywords: ['rename', 'project'] },
  { page: 'project', label: 'Slug', panel: 'Name and address', keywords: ['hostname'] },
  { page: 'project', label: 'Target', panel: 'Target', keywords: ['upstream', 'proxy', 'dev server', 'port'] },
];

/**
 * The commands that the palette finds besides those offered now and those of domains: projects, zones, keys, breaks and
 * settings by name, and actions of other pages with their objects.
 */
export function catalogueOf(named: Named, navigation: Navigation): Command[] {
  return [
    ...projectCommands(named, navigation),
    ...actionCommands(named, navigation),
    ...named.zones.flatMap(({ name }) => zoneCommands(name, navigation)),
    ...keyCommands(named, navigation),
    ...breakCommands(named, navigation),
    ...settingCommands(named, navigation),
  ];
}

const searched = (command: Omit<Command, 'searched'>): Command => ({ ...command, searched: true });

const action = (id: string, title: string, icon: IconName, run: () => void, rest: Partial<Command>): Command =>
  searched({ id, title, group: 'Actions', icon, run, ...rest });

const scopeOf = (page: PageName): 'project' | 'engine' => factsOf(page).scope;

/** Only the sample API has pets and a description. */
const hasPage = (target: Project['target'], page: PageName): boolean =>
  target.kind === 'api' || (page !== 'pets' && page !== 'api');

function projectCommands({ projects, current }: Named, { here, go }: Navigation): Command[] {
  const page = here === null || scopeOf(here.page) === 'engine' ? 'home' : here.page;
  return projects
    .filter(({ id }) => id !== current?.id)
    .flatMap(({ id, name, slug, target }) => [
      {
        id: `project-${id}`,
        title: name,
        detail: slug,
        group: 'Projects',
        icon: 'project' as const,
        keywords: ['switch to'],
        run: () => go({ page, project: slug }),
      },
      ...PAGE_NAMES.filter((other) => scopeOf(other) === 'project' && hasPage(target, other)).map((other) =>
        searched({
          id: `project-${id}-${other}`,
          title: PAGES[other].title,
          detail: name,
          group: 'Pages of other projects',
          icon: PAGES[other].icon,
          keywords: [slug],
          run: () => go({ page: other, project: slug }),
        }),
      ),
    ]);
}

function actionCommands({ current }: Named, { go, runAt }: Navigation): Command[] {
  const inProject = (place: Place): Place | undefined => {
    if (scopeOf(place.page) === 'engine') return place;
    return current === undefined || !hasPage(current.target, place.page)
      ? undefined
      : { ...place, project: current.slug };
  };
  const found = (page: PageName, words: string) => ({
    keywords: words.split(' '),
    ...(scopeOf(page) === 'project' && current !== undefined && { detail: current.name }),
  });
  return [
    ...ACTIONS.flatMap(([page, id, title, icon, words = '']) => {
      const place = inProject({ page });
      return place === undefined ? [] : [action(id, title, icon, () => runAt(place, id), found(page, words))];
    }),
    ...PARTS.flatMap(([part, title, icon, words]) => {
      const place = inProject(part);
      return place === undefined ? [] : [action(title, title, icon, () => go(place), found(part.page, words))];
    }),
  ];
}

/** The commands of domains, of which there may be thousands. */
export function domainFamily({ domains, projects }: Named, { go, runAt }: Navigation): Family {
  const byId = new Map(projects.map((project) => [project.id, project]));
  const shown = domains.flatMap((domain) => {
    const project = byId.get(domain.projectId);
    return project === undefined ? [] : [{ ...domain, name: unicodeOf(domain.hostname), project }];
  });
  return {
    names: shown.map(({ hostname, name, project }) =>
      [name, ...(name === hostname ? [] : [hostname]), fold(project.name)].join(' '),
    ),
    words: 'verify show the requests to show the certificate of domains actions',
    commandsAt(index) {
      const domain = shown[index];
      if (domain === undefined) return [];
      const { hostname, name, project, certificate } = domain;
      const at: Place = { page: 'domains', project: project.slug, item: hostname };
      const requests: Place = { page: 'traffic', project: project.slug, query: { filter: `host:${hostname}` } };
      const leaf: Place = { page: 'certificates', item: hostname };
      const of = { detail: project.name, keywords: [hostname] };
      return [
        action(`domain ${hostname}`, name, 'domains', () => go(at), { ...of, group: 'Domains' }),
        action(`verify ${hostname}`, `Verify ${name}`, 'again', () => runAt(at, 'domain-verify'), of),
        action(`requests ${hostname}`, `Show the requests to ${name}`, 'traffic', () => go(requests), of),
        ...(certificate.state === 'none'
          ? []
          : [action(`certificate ${hostname}`, `Show the certificate of ${name}`, 'certificates', () => go(leaf), of)]),
      ];
    },
  };
}

function zoneCommands(name: string, { go, runAt }: Navigation): Command[] {
  const at: Place = { page: 'dns', item: name };
  const of = { detail: 'DNS' };
  return [
    action(`zone ${name}`, name, 'dns', () => go(at), { ...of, group: 'Zones' }),
    action(`record ${name}`, `Add a record to ${name}`, 'add', () => runAt(at, 'record-new'), of),
  ];
}

function keyCommands({ keys, projects }: Named, { go }: Navigation): Command[] {
  const byId = new Map(projects.map((project) => [project.id, project]));
  return keys.flatMap(({ key, projectId }) => {
    const project = byId.get(projectId);
    if (project === undefined || key.revokedAt !== undefined) return [];
    const { id, name, prefix } = key;
    const at: Place = { page: 'limits', project: project.slug, item: id };
    const requests: Place = { page: 'traffic', project: project.slug, query: { filter: `key:${id}` } };
    const detail = `${prefix}… · ${project.name}`;
    return [
      action(`key ${id}`, name, 'limits', () => go(at), { detail, group: 'API keys', keywords: ['token'] }),
      action(`requests ${id}`, `Show the requests of ${name}`, 'traffic', () => go(requests), { detail: project.name }),
    ];
  });
}

/** On a domain's page, the break applies to that domain. */
function breakCommands({ breaks }: Named, { here, go }: Navigation): Command[] {
  const query = here?.page === 'domains' && here.item !== undefined ? { query: { hostname: here.item } } : {};
  return breaks
    .filter(({ impossible }) => impossible === undefined)
    .map(({ id, title, keywords = '' }) =>
      action(`break ${id}`, `Break: ${title}`, 'breaks', () => go({ page: 'breaks', item: id, ...query }), {
        detail: id,
        keywords: ['fault', keywords],
      }),
    );
}

const settingCommands = ({ current }: Named, { go }: Navigation): Command[] =>
  SETTING_FIELDS.flatMap(({ page, label, panel, keywords }) => {
    const inProject = scopeOf(page) === 'project';
    if (inProject && current === undefined) return [];
    return [
      searched({
        id: `setting ${panel} ${label}`,
        title: label,
        detail: inProject && current !== undefined ? `${panel} · ${current.name}` : panel,
        group: 'Settings',
        icon: PAGES[page].icon,
        ...(keywords !== undefined && { keywords }),
        run: () =>
          go({ page, ...(inProject && current !== undefined && { project: current.slug }), query: { field: label } }),
      }),
    ];
  });
