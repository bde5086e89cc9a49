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
import type { Family } from './find-commands.ts';
import { fold } from './fuzzy.ts';

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

/** Actions of pages, by the id under which each page offers them. */
const ACTIONS: readonly { page: PageName; id: string; title: string; icon: IconName; keywords?: readonly string[] }[] =
  [
    { page: 'pets', id: 'add-pet', title: 'Add a pet', icon: 'add', keywords: ['new', 'create'] },
    { page: 'pets', id: 'import-pets', title: 'Import pets', icon: 'upload', keywords: ['csv', 'json', 'file'] },
    { page: 'pets', id: 'seed-pets', title: 'Add made-up pets', icon: 'made', keywords: ['generate', 'seed'] },
    { page: 'limits', id: 'new-key', title: 'New API key', icon: 'add', keywords: ['create', 'secret', 'token'] },
    { page: 'limits', id: 'reset-counters', title: 'Reset all counters', icon: 'reset', keywords: ['limits', '429'] },
    ...PLAN_IDS.map((id) => ({
      page: 'limits' as const,
      id: `plan-${id}`,
      title: `Change to ${PLANS[id].title}`,
      icon: 'limits' as const,
      keywords: ['plan', PLANS[id].domains ? 'upgrade' : 'downgrade'],
    })),
    { page: 'domains', id: 'domain-attach', title: 'Attach a domain', icon: 'add', keywords: ['hostname', 'new'] },
    { page: 'project', id: 'deploy', title: 'Deploy now', icon: 'send' },
    { page: 'project', id: 'remove-project', title: 'Remove the project', icon: 'remove', keywords: ['delete'] },
    {
      page: 'traffic',
      id: 'filter-traffic',
      title: 'Filter the traffic',
      icon: 'filter',
      keywords: ['search', 'find'],
    },
    { page: 'traffic', id: 'traffic-charts', title: 'Show the charts', icon: 'overview', keywords: ['latency'] },
    { page: 'traffic', id: 'download-har', title: 'Download the entries as HAR', icon: 'download' },
    {
      page: 'traffic',
      id: 'forget-traffic',
      title: 'Clear all traffic',
      icon: 'remove',
      keywords: ['clear', 'delete'],
    },
    { page: 'dns', id: 'zone-new', title: 'Create a zone', icon: 'add', keywords: ['new'] },
    { page: 'dns', id: 'ask', title: 'Query the DNS server', icon: 'send', keywords: ['dig', 'ask', 'resolve'] },
    {
      page: 'acme',
      id: 'acme-limits',
      title: 'Switch the ACME limits on or off',
      icon: 'acme',
      keywords: ['let’s encrypt'],
    },
    { page: 'authority', id: 'root-extend', title: 'Extend the root by a suffix', icon: 'add', keywords: ['ca'] },
  ];

/** Parts of pages that have no command. */
const PARTS: readonly { place: Place; title: string; icon: IconName; keywords: readonly string[] }[] = [
  {
    place: { page: 'authority' },
    title: 'Trust the root on this machine',
    icon: 'certificates',
    keywords: ['ca', 'store', 'https', 'untrust'],
  },
  {
    place: { page: 'acme' },
    title: 'Connect an ACME client',
    icon: 'acme',
    keywords: ['certbot', 'caddy', 'lego', 'acme.sh', 'directory', 'let’s encrypt'],
  },
  {
    place: { page: 'breaks', item: 'examine' },
    title: 'Examined test suites',
    icon: 'breaks',
    keywords: ['examine', 'faults', 'tests'],
  },
  { place: { page: 'domains', query: { show: 'redirects' } }, title: 'Redirects', icon: 'redirect', keywords: ['301'] },
  {
    place: { page: 'domains', query: { show: 'configuration' } },
    title: 'Configuration of the domains',
    icon: 'domains',
    keywords: ['json'],
  },
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

const scopeOf = (page: PageName): 'project' | 'engine' => factsOf(page).scope;

function projectCommands({ projects, current }: Named, { here, go }: Navigation): Command[] {
  const page = here === null || scopeOf(here.page) === 'engine' ? 'home' : here.page;
  return projects
    .filter(({ id }) => id !== current?.id)
    .flatMap(({ id, name, slug }) => [
      {
        id: `project-${id}`,
        title: name,
        detail: slug,
        group: 'Projects',
        icon: 'project' as const,
        keywords: ['switch to'],
        run: () => go({ page, project: slug }),
      },
      ...PAGE_NAMES.filter((other) => scopeOf(other) === 'project').map((other) =>
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
    return current === undefined ? undefined : { ...place, project: current.slug };
  };
  const detailOf = (page: PageName) =>
    scopeOf(page) === 'project' && current !== undefined ? { detail: current.name } : {};
  return [
    ...ACTIONS.flatMap(({ page, id, ...action }) => {
      const place = inProject({ page });
      if (place === undefined) return [];
      return [searched({ ...action, ...detailOf(page), id, group: 'Actions', run: () => runAt(place, id) })];
    }),
    ...PARTS.flatMap(({ place: part, ...rest }) => {
      const place = inProject(part);
      if (place === undefined) return [];
      return [searched({ ...rest, ...detailOf(part.page), id: rest.title, group: 'Actions', run: () => go(place) })];
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
      const of = { detail: project.name, searched: true, keywords: [hostname] };
      return [
        { ...of, id: `domain ${hostname}`, title: name, group: 'Domains', icon: 'domains', run: () => go(at) },
        {
          ...of,
          id: `verify ${hostname}`,
          title: `Verify ${name}`,
          group: 'Actions',
          icon: 'again',
          run: () => runAt(at, 'domain-verify'),
        },
        {
          ...of,
          id: `requests ${hostname}`,
          title: `Show the requests to ${name}`,
          group: 'Actions',
          icon: 'traffic',
          run: () => go({ page: 'traffic', project: project.slug, query: { filter: `host:${hostname}` } }),
        },
        ...(certificate.state === 'none'
          ? []
          : [
              {
                ...of,
                id: `certificate ${hostname}`,
                title: `Show the certificate of ${name}`,
                group: 'Actions',
                icon: 'certificates' as const,
                run: () => go({ page: 'certificates', item: hostname }),
              },
            ]),
      ];
    },
  };
}

const zoneCommands = (name: string, { go, runAt }: Navigation): Command[] => [
  searched({
    id: `zone ${name}`,
    title: name,
    detail: 'DNS',
    group: 'Zones',
    icon: 'dns',
    run: () => go({ page: 'dns', item: name }),
  }),
  searched({
    id: `record ${name}`,
    title: `Add a record to ${name}`,
    detail: 'DNS',
    group: 'Actions',
    icon: 'add',
    run: () => runAt({ page: 'dns', item: name }, 'record-new'),
  }),
];

function keyCommands({ keys, projects }: Named, { go }: Navigation): Command[] {
  const byId = new Map(projects.map((project) => [project.id, project]));
  return keys.flatMap(({ key, projectId }) => {
    const project = byId.get(projectId);
    if (project === undefined || key.revokedAt !== undefined) return [];
    return [
      searched({
        id: `key ${key.id}`,
        title: key.name,
        detail: `${key.prefix}… · ${project.name}`,
        group: 'API keys',
        icon: 'limits',
        keywords: ['token'],
        run: () => go({ page: 'limits', project: project.slug, item: key.id }),
      }),
      searched({
        id: `requests ${key.id}`,
        title: `Show the requests of ${key.name}`,
        detail: project.name,
        group: 'Actions',
        icon: 'traffic',
        run: () => go({ page: 'traffic', project: project.slug, query: { filter: `key:${key.id}` } }),
      }),
    ];
  });
}

/** On a domain's page, the break applies to that domain. */
const breakCommands = ({ breaks }: Named, { here, go }: Navigation): Command[] =>
  breaks
    .filter(({ impossible }) => impossible === undefined)
    .map(({ id, title, keywords = '' }) =>
      searched({
        id: `break ${id}`,
        title: `Break: ${title}`,
        detail: id,
        group: 'Actions',
        icon: 'breaks',
        keywords: ['fault', keywords],
        run: () =>
          go({
            page: 'breaks',
            item: id,
            ...(here?.page === 'domains' && here.item !== undefined && { query: { hostname: here.item } }),
          }),
      }),
    );

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
