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
