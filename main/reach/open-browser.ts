import { createHash, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import type { BrowserProcesses } from './browser-processes.ts';
import { type BrowserPlaces, explainNoBrowser, findBrowsers, hasDisplay, NO_DISPLAY } from './browsers.ts';
import type { ReachedAddress } from './mapped-hostnames.ts';

/** Arguments of the user's own, separated by spaces: `--no-sandbox` in a container. */
export const ARGUMENTS_VARIABLE = 'VIVARIUM_BROWSER_ARGUMENTS';

/** Certificates whose keys are taken where the root cannot be trusted for one browser alone. */
const TRUSTED_KEYS_MAX = 100;

export interface BrowserOpenerOptions {
  log: Log;
  processes: BrowserProcesses;
  places: BrowserPlaces;
  /** Read for every start. */
  way: () => { pacUrl: string; ports: { http: number; https: number }; platformZone: string };
  /** Makes the trust store of a home folder trust the root and nothing else; null where that cannot be had. */
  trustInHome: () => ((home: string) => Promise<void>) | null;
  /** The certificates in PEM that are shown at the hostnames of the same project. */
  certificatesBeside: (address: ReachedAddress) => Iterable<string>;
}

export interface OpenedBrowser {
  browser: string;
  /** `root`: it trusts our root alone and verifies as always; `keys`: it takes the certificates that are in force now. */
  trust: 'root' | 'keys';
}

export interface BrowserOpener {
  /** @throws VivariumError that says what to install or to close. */
  open(address: ReachedAddress): Promise<OpenedBrowser>;
  /** The browser that would be opened, or why none can be. */
  available(): { browser: string; program: string } | { problem: string };
}

export function createBrowserOpener(options: BrowserOpenerOptions): BrowserOpener {
  const { log, processes, places, way } = options;
  const { platform, environment, home } = places;
  const more = (environment[ARGUMENTS_VARIABLE] ?? '').split(' ').filter((word) => word !== '');
  const headless = more.some((word) => word.startsWith('--headless'));

  function find() {
    const [browser] = findBrowsers(places);
    if (browser === undefined) return { problem: explainNoBrowser(platform) };
    return headless || hasDisplay(platform, environment) ? { browser } : { problem: NO_DISPLAY };
  }

  async function trust(profile: string): Promise<string | null> {
    const trustInHome = options.trustInHome();
    if (trustInHome === null) return null;
    const trustedHome = join(profile, 'home');
    mkdirSync(trustedHome);
    try {
      await trustInHome(trustedHome);
      return trustedHome;
    } catch (error) {
      log.warn('A browser is given the keys of certificates, because the root could not be trusted for it', { error });
      return null;
    }
  }

  return {
    async open(address) {
      const { browser, problem } = find();
      if (browser === undefined) throw new VivariumError('unavailable', problem);
      let trustedHome: string | null = null;
      await processes.open(browser, async (profile) => {
        // A snap has a home folder of its own.
        trustedHome = browser.confinedTo === null ? await trust(profile) : null;
        const trustedKeys = trustedHome === null ? keysOf(options.certificatesBeside(address)) : [];
        return {
          args: browserArguments({ profile: join(profile, 'profile'), url: address.url, trustedKeys, more, ...way() }),
          environment: browserEnvironment(environment, { home, trustedHome }),
        };
      });
      return { browser: browser.name, trust: trustedHome === null ? 'keys' : 'root' };
    },
    available() {
      const { browser, problem } = find();
      return browser === undefined ? { problem } : { browser: browser.name, program: browser.program };
    },
  };
}

/** As Chromium wants them: SHA-256 of the subject's public key info, in base64. */
function keysOf(certificates: Iterable<string>): string[] {
  const keys = new Set<string>();
  for (const pem of certificates) {
    const spki = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    keys.add(createHash('sha256').update(spki).digest('base64'));
    if (keys.size === TRUSTED_KEYS_MAX) break;
  }
  return [...keys];
}

/** What a throw-away browser is started with. */
export interface BrowserStart {
  profile: string;
  url: string;
  pacUrl: string;
  ports: { http: number; https: number };
  /** The zone whose names Chromium takes to this machine itself, past every proxy. */
  platformZone: string;
  /** SHA-256 of public keys in base64 whose certificates are taken as they are; none where the root is trusted. */
  trustedKeys: readonly string[];
  /** What the user adds. */
  more: readonly string[];
}

/**
 * A browser for one purpose, without a past: nothing to set up, nothing synchronised, nothing fetched that no page asks
 * for. The PAC file maps hostnames as they come and go; names under `.localhost`, which Chromium asks no proxy for, are
 * mapped by rules.
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
    // Otherwise the system's keyring would ask for a password, for a profile that keeps none.
    '--password-store=basic',
    '--use-mock-keychain',
    ...more,
    url,
  ];
}

/**
 * Its own home folder, so that it reads the trust store there and no other; what the session needs to be found is said
 * where it is found by the home folder otherwise.
 */
export function browserEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { home, trustedHome }: { home: string; trustedHome: string | null },
): Record<string, string | undefined> {
  if (trustedHome === null) return { ...environment };
  const { XDG_DATA_HOME: _data, XDG_CONFIG_HOME: _config, XDG_CACHE_HOME: _cache, ...rest } = environment;
  return { ...rest, HOME: trustedHome, XAUTHORITY: environment.XAUTHORITY ?? `${home}/.Xauthority` };
}
