import { type Change, hindered, type Look, ownFile, type Wish } from './change.ts';

/** A browser that reads policy files, with the names of its programs. */
interface PolicyPlace {
  id: string;
  name: string;
  programs: readonly string[];
  file: string;
  policies: (wish: Wish) => object;
  note: string;
}

const PAC_NOTE =
  'The browsers of all users use Vivarium’s PAC file and show that they are managed. While Vivarium is not running, they connect as before.';
const pacPolicy = ({ pacUrl }: Wish) => ({ ProxySettings: { ProxyMode: 'pac_script', ProxyPacUrl: pacUrl } });

/** mozilla.github.io/policy-templates; chromeenterprise.google/policies/#ProxySettings. */
const PLACES: readonly PolicyPlace[] = [
  {
    id: 'firefox',
    name: 'Firefox',
    programs: ['/usr/bin/firefox', '/usr/bin/firefox-esr', '/snap/bin/firefox'],
    file: '/etc/firefox/policies/policies.json',
    policies: ({ ports }) => ({
      policies: {
        DNSOverHTTPS: { Enabled: true, ProviderURL: `https://localhost:${ports.https}/dns-query`, Fallback: true },
        // Otherwise Firefox ignores HTTPS records for a moment after each name that Vivarium refuses.
        Preferences: { 'network.trr.retry_on_recoverable_errors': { Value: true, Status: 'default' } },
      },
    }),
    note: 'Firefox asks Vivarium’s DNS first for all users, and shows that it is managed. While Vivarium is not running, it resolves as before.',
  },
  {
    id: 'chromium',
    name: 'Chromium',
    programs: ['/usr/bin/chromium'],
    file: '/etc/chromium/policies/managed/vivarium.json',
    policies: pacPolicy,
    note: PAC_NOTE,
  },
  {
    id: 'chrome',
    name: 'Chrome',
    programs: ['/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'],
    file: '/etc/opt/chrome/policies/managed/vivarium.json',
    policies: pacPolicy,
    note: PAC_NOTE,
  },
];

/** Plans a policy file for each installed browser that reads one. The root must be trusted separately. */
export const planBrowsers = (wish: Wish, look: Look): Change[] =>
  PLACES.filter(({ programs }) => programs.some((path) => look.has(path))).map((place): Change => {
    const about = {
      id: `browser:${place.id}`,
      kind: 'browser',
      what: `Vivarium’s hostnames at their real URL, for ${place.name}`,
    } as const;
    const text = `${JSON.stringify(place.policies(wish), null, 2)}\n`;
    const file = ownFile(look, place.file, text);
    if (typeof file === 'string') return hindered(about, file, text);
    return { ...about, note: `${place.note} Restart it.`, steps: [file], afterApply: [], afterUndo: [] };
  });
