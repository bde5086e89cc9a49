import { commandLine } from '../base/system/own-command.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { finding } from './finding.ts';

/** The result of opening a hostname in an installed browser as the user has set it up. */
export interface BrowserEvidence {
  name: string;
  kind: 'chromium' | 'firefox';
  hostname: string;
  result: { opened: true } | { opened: false; said: string };
}

/** Opening a page in each browser takes seconds, so a run of all areas skips it. */
export const SKIPPED_BROWSERS: DoctorCheck = finding(
  { area: 'browsers', name: 'all', title: 'Browsers' },
  'skipped',
  ['No page was opened in them: this takes some seconds, so it is done only on request.'],
  { fix: 'Open a hostname in each installed browser.', commands: ['vivarium doctor --areas browsers'] },
);

export const evaluateNoBrowser = (reason: string): DoctorCheck =>
  finding({ area: 'browsers', name: 'all', title: 'Browsers' }, 'skipped', [reason]);

/** Whether a browser has opened a hostname at its real URL. */
export function evaluateBrowser({ name, kind, hostname, result }: BrowserEvidence): DoctorCheck {
  const subject = { area: 'browsers', name: name.toLowerCase(), title: name } as const;
  const url = `https://${hostname}/`;
  if (result.opened)
    return finding(subject, 'ok', [`It opened ${url} with its current setup, and verified the certificate.`]);
  const said = result.said === '' ? [] : [`It said: ${result.said}`];
  return finding(subject, 'warning', [`It did not open ${url} with its current setup.`, ...said], {
    fix:
      kind === 'firefox'
        ? 'Trust the root in Firefox, and set its DNS over HTTPS (docs/reach-a-hostname.md), or open the hostname in a separate profile.'
        : 'Trust the root, and set the PAC file (docs/reach-a-hostname.md), or open the hostname in a separate profile.',
    commands: [commandLine`vivarium open ${hostname} --browser ${kind}`],
  });
}
