import type { Component } from 'svelte';
import type { IconName } from '../shared/display/icons.ts';
import type { PageName } from '../shared/navigation/places.ts';
import type { EngineViewProps, ProjectViewProps } from '../shared/session/page-view.ts';

export type PageView =
  | { scope: 'project'; load: () => Promise<{ default: Component<ProjectViewProps> }> }
  | { scope: 'engine'; load: () => Promise<{ default: Component<EngineViewProps> }> };

/** The pages. All but the Overview share a chunk that loads later, so the first page appears at once. */
export const VIEWS: Partial<Record<PageName, PageView>> = {
  general: { scope: 'project', load: () => import('../pages/project-settings/GeneralView.svelte') },
  domains: { scope: 'project', load: () => import('../pages/domains/DomainsView.svelte') },
  overview: { scope: 'engine', load: () => import('../pages/home/OverviewView.svelte') },
  pets: { scope: 'project', load: () => import('../pages/pets/ServedPetsView.svelte') },
  traffic: { scope: 'project', load: () => import('../pages/traffic/TrafficView.svelte') },
  limits: { scope: 'project', load: () => import('../pages/limits/LimitsView.svelte') },
  projects: { scope: 'engine', load: () => import('../pages/projects/ProjectsView.svelte') },
  dns: { scope: 'engine', load: () => import('../pages/dns/DnsView.svelte') },
  certificates: { scope: 'engine', load: () => import('../pages/certificates/CertificatesView.svelte') },
  acme: { scope: 'engine', load: () => import('../pages/certificates/acme/AcmeView.svelte') },
  devices: { scope: 'engine', load: () => import('../pages/machine/devices/OtherDevicesView.svelte') },
  breaks: { scope: 'engine', load: () => import('../pages/break/BreaksView.svelte') },
  doctor: { scope: 'engine', load: () => import('../pages/machine/doctor/DoctorView.svelte') },
  settings: { scope: 'engine', load: () => import('../pages/machine/settings/SettingsView.svelte') },
  api: { scope: 'project', load: () => import('../pages/api/ApiReferenceView.svelte') },
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
