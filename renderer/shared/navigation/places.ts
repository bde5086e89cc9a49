import { orElse } from '../../../main/contract/errors.ts';
import type { IconName } from '../display/icons.ts';

/**
 * The places of the interface and their addresses. A project's place contains the project's slug, so a link to it means
 * the same for every user.
 */

interface PageFacts {
  title: string;
  /** `project`: about one project; `engine`: about this Vivarium. */
  scope: 'project' | 'engine';
  /** The address segment; empty for a project's first page. */
  segment: string;
  /** The segment of earlier versions; links to it lead here. */
  formerly?: string;
  /** The address parameter of one item of the page. */
  item?: string;
  icon: IconName;
  /** The path of its view in `renderer/pages`. */
  view: string;
  /** What it is for, which it shows while there is no project. */
  purpose?: string;
  /** Whether it shows something of its own then. */
  alone?: true;
  /** Only for projects whose target is the built-in API. */
  builtIn?: true;
  /** The heading of the pages that are tabs of one entry in the rail; the first of them has the entry. */
  tabOf?: string;
  /** The heading above it in the rail, its name there if another one, and its shortcut. */
  rail?: { under: '' | 'The world' | 'This machine'; name?: string; shortcut: string };
}

const CERTIFICATES = 'Certificates';
const MACHINE = 'This machine';

/** The pages, in the order of the rail. */
export const PAGES = {
  home: {
    title: 'Home',
    scope: 'project',
    segment: '',
    icon: 'overview',
    view: 'home/HomeView',
    alone: true,
    rail: { under: '', shortcut: 'g h' },
  },
  traffic: {
    title: 'Traffic',
    scope: 'project',
    segment: 'traffic',
    item: 'entry',
    icon: 'traffic',
    view: 'traffic/TrafficView',
    purpose: 'Every request to a project appears here as it arrives, with the stage that answered it and its timings.',
    rail: { under: '', shortcut: 'g t' },
  },
  domains: {
    title: 'Domains',
    scope: 'project',
    segment: 'domains',
    item: 'hostname',
    icon: 'domains',
    view: 'domains/DomainsView',
    purpose: 'Hostnames of your own are attached to a project here, and verified until they have a certificate.',
    rail: { under: '', shortcut: 'g d' },
  },
  limits: {
    title: 'Keys and limits',
    scope: 'project',
    segment: 'keys-and-limits',
    item: 'key',
    icon: 'limits',
    view: 'limits/LimitsView',
    purpose: 'A project’s API keys are created and revoked here, with their use of the limits of its plan.',
    rail: { under: '', shortcut: 'g k' },
  },
  pets: {
    title: 'Pets',
    scope: 'project',
    segment: 'pets',
    item: 'pet',
    icon: 'pets',
    view: 'pets/PetsView',
    builtIn: true,
    rail: { under: '', name: 'Pets (sample data)', shortcut: 'g p' },
  },
  api: {
    title: 'API',
    scope: 'project',
    segment: 'api-reference',
    item: 'operation',
    icon: 'api',
    view: 'api/ApiReferenceView',
    builtIn: true,
    rail: { under: '', shortcut: 'g a' },
  },
  project: {
    title: 'Settings',
    scope: 'project',
    segment: 'settings',
    formerly: 'general',
    icon: 'general',
    view: 'project-settings/ProjectSettingsView',
    purpose: 'A project’s name, and the server that its requests lead to, are set here.',
    rail: { under: '', shortcut: 'g s' },
  },
  dns: {
    title: 'DNS',
    scope: 'engine',
    segment: 'dns',
    item: 'zone',
    icon: 'dns',
    view: 'dns/DnsView',
    rail: { under: 'The world', shortcut: 'g n' },
  },
  certificates: {
    title: 'Names',
    scope: 'engine',
    segment: 'certificates',
    item: 'hostname',
    icon: 'certificates',
    view: 'certificates/CertificatesView',
    tabOf: CERTIFICATES,
    rail: { under: 'The world', shortcut: 'g c' },
  },
  authority: {
    title: 'Authority',
    scope: 'engine',
    segment: 'authority',
    icon: 'certificates',
    view: 'certificates/AuthorityView',
    tabOf: CERTIFICATES,
  },
  acme: {
    title: 'ACME',
    scope: 'engine',
    segment: 'acme',
    item: 'order',
    icon: 'acme',
    view: 'certificates/acme/AcmeView',
    tabOf: CERTIFICATES,
  },
  breaks: {
    title: 'Break it',
    scope: 'engine',
    segment: 'break-it',
    item: 'entry',
    icon: 'breaks',
    view: 'break/BreaksView',
    rail: { under: 'The world', shortcut: 'g b' },
  },
  doctor: {
    title: 'Doctor',
    scope: 'engine',
    segment: 'doctor',
    icon: 'doctor',
    view: 'machine/doctor/DoctorView',
    tabOf: MACHINE,
    rail: { under: 'This machine', shortcut: 'g m' },
  },
  changes: {
    title: 'Changes',
    scope: 'engine',
    segment: 'changes',
    icon: 'undo',
    view: 'machine/changes/ChangesView',
    tabOf: MACHINE,
  },
  devices: {
    title: 'Other devices',
    scope: 'engine',
    segment: 'other-devices',
    icon: 'devices',
    view: 'machine/devices/OtherDevicesView',
    tabOf: MACHINE,
  },
  settings: {
    title: 'Settings',
    scope: 'engine',
    segment: 'settings',
    icon: 'settings',
    view: 'machine/settings/SettingsView',
    tabOf: MACHINE,
  },
  projects: {
    title: 'All projects',
    scope: 'engine',
    segment: 'projects',
    icon: 'project',
    view: 'projects/ProjectsView',
  },
} as const satisfies Record<string, PageFacts>;

export type PageName = keyof typeof PAGES;

export const PAGE_NAMES = Object.keys(PAGES) as PageName[];

export interface Place {
  page: PageName;
  /** The project's slug, for pages about a project; undefined for the last selected one. */
  project?: string;
  /** One item of the page: a hostname, a zone. */
  item?: string;
  /** The page's filters, including the environment. Without empty values. */
  query?: Readonly<Record<string, string>>;
}

const PROJECTS = 'projects';

/** A page's definition, optional fields included. */
export const factsOf = (page: PageName): PageFacts => PAGES[page];

/** The page's heading: that of its tabs, if it is one of them. */
export const headingOf = (page: PageName): string => factsOf(page).tabOf ?? PAGES[page].title;

/** The pages beside this one in a row of tabs; only itself without tabs. */
export const tabsOf = (page: PageName): readonly PageName[] => {
  const { tabOf } = factsOf(page);
  return tabOf === undefined ? [page] : PAGE_NAMES.filter((other) => factsOf(other).tabOf === tabOf);
};

export function readPlace(path: string, search = ''): Place | null {
  const segments = path.split('/').filter((segment) => segment !== '');
  const decoded = segments.map(decodeSegment);
  if (decoded.some((segment) => segment === null)) return null;
  const [first, second, ...rest] = decoded as string[];
  const query = readQuery(search);
  if (first === undefined) return { page: 'home', ...query };
  if (first === PROJECTS && second !== undefined) return placeAt('project', rest, { project: second, ...query });
  return placeAt('engine', decoded as string[], query) ?? placeAt('project', decoded as string[], query);
}

function placeAt(scope: PageFacts['scope'], segments: readonly string[], rest: Omit<Place, 'page'>): Place | null {
  const [segment = '', item, ...more] = segments;
  const page = PAGE_NAMES.find((name) => {
    const facts = factsOf(name);
    return facts.scope === scope && (facts.segment === segment || facts.formerly === segment);
  });
  if (page === undefined || more.length > 0) return null;
  if (item === undefined) return { page, ...rest };
  return factsOf(page).item === undefined ? null : { page, ...rest, item };
}

/**
 * The address of a place, from the root: `/projects/demo/pets?status=sold`. Without a project it has the earlier segment,
 * if there is one: `/settings` is the engine's.
 */
export function formatPlace({ page, project, item, query = {} }: Place): string {
  const { scope, segment, formerly = segment } = factsOf(page);
  const own = project === undefined ? formerly : segment;
  const segments = [
    ...(scope === 'project' && project !== undefined ? [PROJECTS, project] : []),
    ...(own === '' ? [] : [own]),
    ...(item === undefined ? [] : [item]),
  ];
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  const search = kept.length === 0 ? '' : `?${new URLSearchParams(kept).toString()}`;
  return `/${segments.map(encodeURIComponent).join('/')}${search}`;
}

/** Whether two places differ only in their filters. */
export const isSamePage = (a: Place, b: Place): boolean =>
  a.page === b.page && a.project === b.project && a.item === b.item;

function readQuery(search: string): { query?: Record<string, string> } {
  const entries = [...new URLSearchParams(search)].filter(([, value]) => value !== '');
  return entries.length === 0 ? {} : { query: Object.fromEntries(entries) };
}

const decodeSegment = (segment: string): string | null => orElse(() => decodeURIComponent(segment), null);
