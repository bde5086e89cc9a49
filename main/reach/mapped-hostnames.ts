import { normalizeHostname, isWithin } from '../base/text/hostname.ts';
import { exampleOf, isWildcard, wildcardOver } from '../contract/hostnames.ts';
import { notFound } from '../contract/errors.ts';
import type { InstructionStep } from '../contract/reach.ts';
import { posixWord, powerShellString } from '../base/text/shell.ts';

/** The reachable hostnames of the routing snapshot. A redirected hostname also has a route. */
export interface PublishedHostnames {
  routes: readonly { hostname: string; projectId: string; target: { kind: MappedHostname['leadsTo'] } }[];
}

export interface MappedHostname {
  hostname: string;
  projectId: string;
  leadsTo: 'api' | 'provider' | 'upstream';
}

export type MappedHostnames = ReturnType<typeof createMappedHostnames>;

/** The hostnames of the current snapshot. */
export function createMappedHostnames() {
  let published: PublishedHostnames['routes'] = [];
  let known: ReadonlyMap<string, MappedHostname> | null = null;
  // Built on first use: checking many domains publishes far more often than anything reads this.
  const mapped = () =>
    (known ??= new Map(
      published.map(({ hostname, projectId, target }) => [hostname, { hostname, projectId, leadsTo: target.kind }]),
    ));
  return {
    publish({ routes }: PublishedHostnames): void {
      published = routes;
      known = null;
    },
    find(hostname: string): MappedHostname | null {
      const found = mapped().get(hostname) ?? mapped().get(wildcardOver(hostname));
      return found === undefined ? null : { ...found, hostname };
    },
    *ofProject(projectId: string): Iterable<string> {
      for (const entry of mapped().values()) if (entry.projectId === projectId) yield entry.hostname;
    },
    /** All of them, in no particular order. */
    all: (): Iterable<string> => mapped().keys(),
    get size() {
      return mapped().size;
    },
  };
}

/** The address to open in a browser. */
export interface ReachedAddress extends MappedHostname {
  /** Without a port, because the proxy maps the scheme's default port. */
  url: string;
  scheme: 'http' | 'https';
}

export interface ReachedFacts {
  mapped: Pick<MappedHostnames, 'find'>;
  isSecure: (hostname: string) => boolean;
  isAttached: (hostname: string) => boolean;
}

/**
 * The address of the hostname that `text` spells in any form; of a wildcard, that of a hostname under it.
 * @throws VivariumError `not_found` for a hostname that is not served; the message says what to do.
 */
export function reachedAddress(
  text: string,
  { path, scheme: asked }: { path?: string | undefined; scheme?: ReachedAddress['scheme'] | undefined },
  { mapped, isSecure, isAttached }: ReachedFacts,
): ReachedAddress {
  const star = isWildcard(text) ? '*.' : '';
  const normal = normalizeHostname(text.slice(star.length));
  const found = normal.ok ? mapped.find(exampleOf(star + normal.hostname, isAttached)) : null;
  if (found === null) {
    throw notFound(
      `Nothing is served at ${text}. Attach it to a project and verify it, or use a hostname that is served.`,
    );
  }
  const scheme = asked ?? (isSecure(found.hostname) ? 'https' : 'http');
  return { ...found, scheme, url: `${scheme}://${found.hostname}${path ?? pathOf(found)}` };
}

/** A path that shows something without a key: the built-in API serves nothing at `/`. */
export const pathOf = ({ leadsTo }: Pick<MappedHostname, 'leadsTo'>): string =>
  leadsTo === 'api' ? '/v1/openapi.json' : '/';

/** Unregistered, but the media type that browsers and systems expect. */
export const PAC_CONTENT_TYPE = 'application/x-ns-proxy-autoconfig';

/**
 * A proxy auto-configuration file: sends exactly `hostnames` (in normal form, also wildcards) through `proxy`
 * (`127.0.0.1:8080`), everything else directly. Uses the JavaScript of 1999, because Windows still runs no newer one.
 */
export function renderPac(hostnames: Iterable<string>, proxy: string): string {
  const entries = [...hostnames].sort().map((hostname) => `${JSON.stringify(hostname)}: 1`);
  return `// Sends the hostnames that Vivarium serves through its proxy, and everything else directly.
var mapped = {
${entries.join(',\n')}
};

function FindProxyForURL(url, host) {
  host = host.toLowerCase().replace(/\\.$/, "");
  var own = Object.prototype.hasOwnProperty;
  var wildcard = "*" + host.substring(host.indexOf("."));
  return own.call(mapped, host) || own.call(mapped, wildcard) ? "PROXY ${proxy}" : "DIRECT";
}
`;
}

export interface PacFacts {
  hostname: string;
  ports: { http: number };
  pacUrl: string;
  platform: NodeJS.Platform;
}

/**
 * Commands that set the PAC file for all browsers of the user. They need no administrator; Vivarium does not run them.
 */
export function pacSetting(facts: PacFacts): InstructionStep {
  const { pacUrl, platform } = facts;
  const title = 'The PAC file, for all browsers';
  if (platform === 'darwin') {
    return {
      title,
      note: `For the network service Wi-Fi; networksetup -listallnetworkservices names the others.${orByPort(facts)}`,
      commands: `networksetup -setautoproxyurl Wi-Fi ${posixWord(pacUrl)}`,
      undo: 'networksetup -setautoproxystate Wi-Fi off',
    };
  }
  if (platform === 'win32') {
    const settings = "'HKCU:\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings'";
    return {
      title,
      note: `In PowerShell; restart browsers to apply it.${orByPort(facts)}`,
      commands: `Set-ItemProperty ${settings} AutoConfigURL ${powerShellString(pacUrl)}`,
      undo: `Remove-ItemProperty ${settings} AutoConfigURL`,
    };
  }
  return {
    title: 'The PAC file, for all browsers (GNOME)',
    note: `Affects Vivarium’s hostnames only.${orByPort(facts)}`,
    commands: [
      `gsettings set org.gnome.system.proxy autoconfig-url ${posixWord(pacUrl)}`,
      'gsettings set org.gnome.system.proxy mode auto',
    ].join('\n'),
    undo: 'gsettings set org.gnome.system.proxy mode none',
  };
}

/** Chromium-based browsers bypass the proxy for such names, even with a PAC file, and resolve them to loopback. */
const orByPort = ({ hostname, ports }: PacFacts): string =>
  isWithin(hostname, 'localhost')
    ? ` Chrome, Edge and Chromium bypass the proxy for names under localhost: open http://${hostname}:${ports.http} there.`
    : '';
