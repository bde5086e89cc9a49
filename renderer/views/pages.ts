import type { Component } from 'svelte';
import type { Project } from '../../main/contract/projects.ts';
import type { IconName } from '../components/shared/icons.ts';
import type { PageName } from '../navigation/places.ts';
import type { Session } from '../state/session.svelte.ts';

/** A page about one project, created anew per project. `item`: the selected item in the address. */
export interface ProjectViewProps {
  session: Session;
  project: Project;
  item: string | undefined;
}

/** A page about this Vivarium, or one that works without a project. */
export interface EngineViewProps {
  session: Session;
  item: string | undefined;
}

export type PageView =
  | { scope: 'project'; load: () => Promise<{ default: Component<ProjectViewProps> }> }
  | { scope: 'engine'; load: () => Promise<{ default: Component<EngineViewProps> }> };

/** The pages. All but the Overview share a chunk that loads later, so the first page appears at once. */
export const VIEWS: Partial<Record<PageName, PageView>> = {
  general: { scope: 'project', load: () => import('./GeneralView.svelte') },
  domains: { scope: 'project', load: () => import('./DomainsView.svelte') },
  overview: { scope: 'engine', load: () => import('./OverviewView.svelte') },
  pets: { scope: 'project', load: () => import('./ServedPetsView.svelte') },
  traffic: { scope: 'project', load: () => import('./TrafficView.svelte') },
  limits: { scope: 'project', load: () => import('./LimitsView.svelte') },
  projects: { scope: 'engine', load: () => import('./ProjectsView.svelte') },
  dns: { scope: 'engine', load: () => import('./DnsView.svelte') },
  certificates: { scope: 'engine', load: () => import('./CertificatesView.svelte') },
  acme: { scope: 'engine', load: () => import('./AcmeView.svelte') },
  devices: { scope: 'engine', load: () => import('./OtherDevicesView.svelte') },
  breaks: { scope: 'engine', load: () => import('./BreaksView.svelte') },
  doctor: { scope: 'engine', load: () => import('./DoctorView.svelte') },
  settings: { scope: 'engine', load: () => import('./SettingsView.svelte') },
  api: { scope: 'project', load: () => import('./ApiReferenceView.svelte') },
};

/** Loads every page, so shortcut keys find it ready. A failed load is retried when the page is opened. */
export function loadPages(): void {
  for (const { load } of Object.values(VIEWS)) load().catch(() => undefined);
}

export interface RailGroup {
  /** The heading of the group; none for the first. */
  title?: string;
  pages: readonly { page: PageName; icon: IconName; shortcut: string }[];
}

/** The rail, from top to bottom, with the second key of each page's shortcut after `g`. */
export const RAIL: readonly RailGroup[] = [
  {
    pages: [
      { page: 'overview', icon: 'overview', shortcut: 'g o' },
      { page: 'pets', icon: 'pets', shortcut: 'g p' },
      { page: 'traffic', icon: 'traffic', shortcut: 'g t' },
    ],
  },
  {
    title: 'Project settings',
    pages: [
      { page: 'domains', icon: 'domains', shortcut: 'g d' },
      { page: 'limits', icon: 'limits', shortcut: 'g k' },
      { page: 'general', icon: 'general', shortcut: 'g g' },
    ],
  },
  {
    title: 'Vivarium',
    pages: [
      { page: 'dns', icon: 'dns', shortcut: 'g n' },
      { page: 'certificates', icon: 'certificates', shortcut: 'g c' },
      { page: 'acme', icon: 'acme', shortcut: 'g m' },
      { page: 'devices', icon: 'devices', shortcut: 'g l' },
      { page: 'api', icon: 'api', shortcut: 'g a' },
      { page: 'breaks', icon: 'breaks', shortcut: 'g b' },
      { page: 'doctor', icon: 'doctor', shortcut: 'g h' },
      { page: 'settings', icon: 'settings', shortcut: 'g s' },
    ],
  },
];
