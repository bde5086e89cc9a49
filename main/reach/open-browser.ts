import { createHash, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import { unavailable } from '../contract/errors.ts';
import { mention } from '../contract/calls.ts';
import type { BrowserKind } from '../contract/reach.ts';
import { type BrowserProcesses, firefoxArguments } from './browser-processes.ts';
import {
  explainNoBrowser,
  findBrowsers,
  hasDisplay,
  kindOf,
  NO_CERTUTIL,
  NO_DISPLAY,
  type Browser,
  type BrowserSearch,
  extraArguments,
} from './browsers.ts';
import type { ReachedAddress } from './mapped-hostnames.ts';

/**
 * The preferences of a profile that uses the PAC file, which always has the current hostnames, including those under
 * `.localhost`. Turns off first-run pages, reports and network checks.
 */
function firefoxPreferences({ pacUrl }: { pacUrl: string }): string {
  const preferences: Record<string, string | number | boolean> = {
    'network.proxy.type': 2,
    'network.proxy.autoconfig_url': pacUrl,
    // Otherwise Firefox resolves names under localhost itself and bypasses every proxy.
    'network.proxy.allow_hijacking_localhost': true,
    'browser.aboutwelcome.enabled': false,
    'browser.preonboarding.enabled': false,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.homepage_override.mstone': 'ignore',
    'app.normandy.enabled': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'datareporting.policy.firstRunURL': '',
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
  };
  return Object.entries(preferences)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join('');
}

/** The most certificates whose keys are accepted when the root cannot be trusted for just one browser. */
const TRUSTED_KEYS_MAX = 100;

export interface BrowserOpenerOptions {
  log: Log;
  processes: BrowserProcesses;
  search: BrowserSearch;
  /** Read for each browser. */
  network: () => { pacUrl: string; ports: { http: number; https: number }; platformZone: string };
  /** Creates a trust store in a folder, with only the root; null where that is impossible. */
  makeTrustStore: () => ((folder: string) => Promise<void>) | null;
  /** The PEM certificates of all hostnames of the same project. */
  certificatesBeside: (address: ReachedAddress) => Iterable<string>;
}

export interface OpenedBrowser {
  browser: string;
  /** `root`: trusts only Vivarium's root and verifies normally; `keys`: accepts the certificates that are valid now. */
  trust: 'root' | 'keys';
}

export function createBrowserOpener(options: BrowserOpenerOptions) {
  const { log, processes, search, network } = options;
  const { platform, environment, home } = search;
  const more = extraArguments(environment);
  const headless = more.some((word) => word.startsWith('--headless'));

  function find(kind?: BrowserKind) {
    const all = findBrowsers(search);
    const browser = all.find((each) => kind === undefined || kindOf(each) === kind);
    if (browser === undefined) return { problem: explainNoBrowser(platform, kind) };
    const other = all.find((each) => kindOf(each) !== kindOf(browser));
    return headless || hasDisplay(platform, environment) ? { browser, other } : { problem: NO_DISPLAY };
  }

  async function openFirefox(browser: Browser, address: ReachedAddress): Promise<void> {
    const makeTrustStore = options.makeTrustStore();
    if (makeTrustStore === null) throw unavailable(NO_CERTUTIL);
    await processes.open(browser, async (profile) => {
      await makeTrustStore(profile);
      writeFileSync(join(profile, 'user.js'), firefoxPreferences(network()));
      return { args: [...firefoxArguments(profile), ...more, address.url], environment };
    });
  }

  async function trust(profile: string): Promise<string | null> {
    // On other systems, Chromium uses the system's trust store.
    const makeTrustStore = platform === 'linux' ? options.makeTrustStore() : null;
    if (makeTrustStore === null) return null;
    const trustedHome = join(profile, 'home');
    try {
      await makeTrustStore(join(trustedHome, '.pki', 'nssdb'));
      return trustedHome;
    } catch (error) {
      log.warn('A browser accepts certificates by their keys, because making it trust the root failed', { error });
      return null;
    }
  }

  return {
    /** @throws VivariumError that says what to install or to close. */
    async open(address: ReachedAddress, kind?: BrowserKind): Promise<OpenedBrowser> {
      const { browser, problem } = find(kind);
      if (browser === undefined) {
        const { hostname } = address;
        throw unavailable(`${problem} Other ways: ${mention('reach.snippets', { hostname })}.`);
      }
      if (kindOf(browser) === 'firefox') {
        await openFirefox(browser, address);
        return { browser: browser.name, trust: 'root' };
      }
      let trustedHome: string | null = null;
      await processes.open(browser, async (profile) => {
        // A snap has its own home folder.
        trustedHome = browser.confinedTo === null ? await trust(profile) : null;
        const trustedKeys = trustedHome === null ? keysOf(options.certificatesBeside(address)) : [];
        const start = { profile: join(profile, 'profile'), url: address.url, trustedKeys, more, ...network() };
        return { args: browserArguments(start), environment: browserEnvironment(environment, { home, trustedHome }) };
      });
      return { browser: browser.name, trust: trustedHome === null ? 'keys' : 'root' };
    },
    /** The browser that would be opened, and one of the other kind; or why none can be. */
    available() {
      const { browser, other, problem } = find();
      if (browser === undefined) return { problem };
      return {
        browser: browser.name,
        program: browser.program,
        ...(other !== undefined && { other: { kind: kindOf(other), browser: other.name } }),
      };
    },
  };
}

/** Chromium's format: SHA-256 of the subject's public key info, in base64. */
function keysOf(certificates: Iterable<string>): string[] {
  const keys = new Set<string>();
  for (const pem of certificates) {
    const spki = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    keys.add(createHash('sha256').update(spki).digest('base64'));
    if (keys.size === TRUSTED_KEYS_MAX) break;
  }
  return [...keys];
}

/** Start parameters of a throw-away browser. */
export interface BrowserStart {
  profile: string;
  url: string;
  pacUrl: string;
  ports: { http: number; https: number };
  /** The zone whose names Chromium resolves to loopback itself, bypassing every proxy. */
  platformZone: string;
  /** SHA-256 of accepted public keys in base64; empty when the root is trusted. */
  trustedKeys: readonly string[];
  /** The user's extra arguments. */
  more: readonly string[];
}

/**
 * Arguments for a browser with an empty profile: no first-run setup, no sync, no background requests. The PAC file has
 * the current hostnames; host rules map names under `.localhost`, for which Chromium bypasses the proxy.
 */
export function browserArguments(start: BrowserStart): string[] {
  const { profile, url, pacUrl, ports, platformZone, trustedKeys, more } = start;
  return [
    `--user-data-dir=${profile}`,
    `--proxy-pac-url=${pacUrl}`,
    `--host-resolver-rules=MAP *.${platformZone}:443 127.0.0.1:${ports.https}, MAP *.${platformZone}:80 127.0.0.1:${ports.http}`,
    ...(trustedKeys.length === 0 ? [] : [`--ignore-certificate-errors-spki-list=${trustedKeys.join(',')}`]),
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-search-engine-choice-screen',
    '--disable-default-apps',
    '--disable-sync',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-domain-reliability',
    '--disable-client-side-phishing-detection',
    '--no-pings',
    // Otherwise the system's keyring would ask for a password, although this profile stores no passwords.
    '--password-store=basic',
    '--use-mock-keychain',
    ...more,
    url,
  ];
}

/**
 * A separate home folder limits the browser to that trust store. Session files that are normally found through the home
 * folder are named explicitly.
 */
export function browserEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { home, trustedHome }: { home: string; trustedHome: string | null },
): Record<string, string | undefined> {
  if (trustedHome === null) return { ...environment };
  const { XDG_DATA_HOME: _data, XDG_CONFIG_HOME: _config, XDG_CACHE_HOME: _cache, ...rest } = environment;
  return { ...rest, HOME: trustedHome, XAUTHORITY: environment.XAUTHORITY ?? `${home}/.Xauthority` };
}
