import type { Environment } from '../contract/values.ts';

/** The DNS zone of all platform hostnames (RFC 6761 §6.3 resolves `.localhost` to this machine). */
export const PLATFORM_ZONE = 'vivarium.localhost';

/** The CNAME target of custom subdomains. */
export const CNAME_TARGET = `cname.${PLATFORM_ZONE}`;

/** The parent of hostnames whose TLS is always broken on purpose: `expired.break.vivarium.localhost`. */
export const BREAK_ZONE = `break.${PLATFORM_ZONE}`;

export const STAGING_SUFFIX = '-staging';

/** The host of a provider's emulated API, for clients with a base URL. */
export const providerHostname = (provider: string): string => `${provider}.api.${PLATFORM_ZONE}`;

/** A project's platform hostname: `demo.vivarium.localhost`, `demo-staging.vivarium.localhost`. */
export const platformHostname = (slug: string, environment: Environment): string =>
  `${slug}${environment === 'staging' ? STAGING_SUFFIX : ''}.${PLATFORM_ZONE}`;

/** Vivarium's own name for other devices, in URLs that need a certificate: DNS over HTTPS. No project can have it. */
export const DEVICE_HOSTNAME = 'vivarium.internal';

/** The hosts of Vivarium itself on loopback, as in a URL, and its paths; a path that ends in a slash is all below it. */
export const OWN_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', PLATFORM_ZONE]);
export const DOH_PATH = '/dns-query';
export const LOOK_PREFIX = '/.well-known/vivarium-look/';

export const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1'] as const;

/** Every IPv4 address, as in a container, to which its published ports lead. */
export const EVERY_ADDRESS = '0.0.0.0';

/** The addresses that the listeners bind, the required one first. */
export const listenAddresses = ({ host }: Pick<Config, 'host'>): readonly string[] =>
  host === undefined ? LOOPBACK_ADDRESSES : [host, '::1'];

/** The start options of a Vivarium. Port 0 means any free port. */
export interface Config {
  dataDir: string;
  httpPort: number;
  httpsPort: number;
  dnsPort: number;
  controlPort: number;
  /** Keep no data after exit. */
  ephemeral: boolean;
  /** Create no demo project on first start. */
  empty: boolean;
  /** The interface or address on which to serve other devices; empty for the only one, absent for none. */
  lan?: string;
  /** Listen on every address; absent for loopback only. */
  host?: typeof EVERY_ADDRESS;
  /** Whether to wait for an interface that is currently missing; otherwise the start fails. */
  lanWaits?: boolean;
}

export const DEFAULT_PORTS = { httpPort: 8080, httpsPort: 8443, dnsPort: 5380, controlPort: 4780 } as const;

/** The file in the data folder that tells scripts how to reach a running Vivarium. */
export interface RuntimeFile {
  pid: number;
  /** The absolute folder of this file, because a copy of the folder contains a copy of the file. */
  dataDir: string;
  version: string;
  http: { port: number };
  https: { port: number };
  dns: { port: number };
  control: { url: string; token: string };
  /** The forward proxy for served hostnames, and the PAC file that configures clients to use it. */
  proxy: { url: string; pacUrl: string };
  /** For clients of DNS over HTTPS (RFC 8484). */
  doh: { url: string };
  /** For ACME clients (RFC 8555). */
  acme: { directoryUrl: string };
  platformZone: string;
  cnameTarget: string;
  caFile: string;
}

export const RUNTIME_FILE = 'runtime.json';

/** Set for the engine that `vivarium start -d` starts: it logs to a file. */
export const DETACHED_VARIABLE = 'VIVARIUM_DETACHED';

/** Must equal the version in `package.json` (a test compares them); a constant avoids reading the file at run time. */
export const VERSION = '0.1.0';

/** The User-Agent of requests that are sent from the window or by a procedure. */
export const OWN_AGENT = `vivarium/${VERSION}`;
