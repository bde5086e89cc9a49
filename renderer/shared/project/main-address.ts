import type { Domain } from '../../../main/contract/domains.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { isWildcard } from '../../../main/contract/hostnames.ts';

export interface ServedAddress {
  hostname: string;
  /** With scheme and port, without a path. */
  url: string;
  /** The custom domain; undefined for the platform's hostnames. */
  domain?: Domain;
}

type Addressed = Pick<Project, 'primary' | 'baseUrl' | 'secureBaseUrl' | 'slug' | 'redirects'>;

/** The address that a project is known by: its primary hostname, else a custom one that is served, else the platform's. */
export function mainAddress(project: Addressed, domains: readonly Domain[]): ServedAddress {
  const primary = domains.find(({ hostname }) => hostname === project.primary);
  const redirected = new Set(project.redirects.map(({ from }) => from));
  const custom = domains.find(
    ({ hostname, serving }) => (serving.http || serving.https) && !isWildcard(hostname) && !redirected.has(hostname),
  );
  const chosen = primary ?? custom;
  return chosen === undefined ? platformAddress(project, 'production') : customAddress(project, chosen);
}

/** All served addresses but the main one, custom hostnames first, HTTPS before HTTP. */
export function otherAddresses(project: Addressed, domains: readonly Domain[]): ServedAddress[] {
  const main = mainAddress(project, domains);
  const custom = domains
    .filter(({ serving }) => serving.http || serving.https)
    .map((domain) => customAddress(project, domain));
  const platform = (['production', 'staging'] as const).flatMap((environment) => [
    platformAddress(project, environment),
    platformAddress(project, environment, 'http'),
  ]);
  return [...custom, ...platform].filter(({ url }) => url !== main.url);
}

function customAddress(project: Addressed, domain: Domain): ServedAddress {
  const hostname = domain.example ?? domain.hostname;
  // Before there is a certificate, HTTPS is refused.
  const scheme = domain.serving.https || !domain.serving.http ? 'https' : 'http';
  return { hostname, url: addressOf(project, hostname, scheme), domain };
}

function platformAddress(
  project: Addressed,
  environment: 'production' | 'staging',
  scheme: 'http' | 'https' = 'https',
): ServedAddress {
  // Staging always has the platform's hostname, production only without a primary one.
  const { hostname: staging } = new URL(project.secureBaseUrl.staging);
  const zone = staging.slice(staging.indexOf('.'));
  const hostname = environment === 'staging' ? staging : `${project.slug}${zone}`;
  return { hostname, url: addressOf(project, hostname, scheme) };
}

function addressOf({ baseUrl, secureBaseUrl }: Addressed, hostname: string, scheme: 'http' | 'https'): string {
  const { port } = new URL((scheme === 'https' ? secureBaseUrl : baseUrl).staging);
  return `${scheme}://${hostname}${port && `:${port}`}`;
}
