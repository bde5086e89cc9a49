/** Arguments for a Firefox of its own, beside one that may run. */
export const firefoxArguments = (start: { profile: string; url: string; more: readonly string[] }): string[] => [
  '--no-remote',
  '--new-instance',
  '--profile',
  start.profile,
  ...start.more,
  start.url,
];

/**
 * The preferences of a profile that takes the PAC file, which maps hostnames as they come and go, names under
 * `.localhost` among them. No first-run pages, reports or checks of the network.
 */
export function firefoxPreferences({ pacUrl }: { pacUrl: string }): string {
  const preferences: Record<string, string | number | boolean> = {
    'network.proxy.type': 2,
    'network.proxy.autoconfig_url': pacUrl,
    // Without it, Firefox resolves names under localhost itself, past every proxy.
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
