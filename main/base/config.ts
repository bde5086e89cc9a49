import type { Environment } from '../contract/values.ts';

/** The DNS zone under which every project has its platform hostnames (RFC 6761 §6.3 keeps `.localhost` on this machine). */
export const PLATFORM_ZONE = 'vivarium.localhost';

/** What a custom subdomain's CNAME points at. */
export const CNAME_TARGET = `cname.${PLATFORM_ZONE}`;

/** What separates a project's staging hostname from its production hostname. */
export const STAGING_SUFFIX = '-staging';

/** Where a project is served on the platform: `demo.vivarium.localhost`, `demo-staging.vivarium.localhost`. */
export const platformHostname = (slug: string, environment: Environment): string =>
  `${slug}${environment === 'staging' ? STAGING_SUFFIX : ''}.${PLATFORM_ZONE}`;

export const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** How one Vivarium is started. Port 0 stands for any free port. */
export interface Config {
  dataDir: string;
  httpPort: number;
  httpsPort: number;
  dnsPort: number;
  controlPort: number;
  /** Nothing is kept after the end. */
  ephemeral: boolean;
  /** No demo project on first start. */
  empty: boolean;
}

export const DEFAULT_PORTS = { httpPort: 8080, httpsPort: 8443, dnsPort: 5380, controlPort: 4780 } as const;

/** The file in the data folder that tells scripts where a running Vivarium is; fields as in the interface description. */
export interface RuntimeFile {
  pid: number;
  version: string;
  http: { port: number };
  https: { port: number };
  dns: { port: number };
  control: { url: string; token: string };
  /** The forward proxy to what is served here, and the file that sends clients through it. */
  proxy: { url: string; pacUrl: string };
  platformZone: string;
  cnameTarget: string;
  caFile: string;
}

export const RUNTIME_FILE = 'runtime.json';
