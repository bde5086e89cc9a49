import { shellWord } from '../base/text/shell.ts';
import type { StoreTrust } from '../contract/certificates.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { finding, type Remedy, type Subject } from './finding.ts';
import { commandLine } from '../base/system/own-command.ts';

export function evaluateStore(store: StoreTrust, platform: NodeJS.Platform): DoctorCheck {
  const subject: Subject = { area: 'trust', name: store.store, title: store.title };
  switch (store.state) {
    case 'trusted':
      return [store.superseded, store.wider, store.otherRoots].every((found) => found === undefined)
        ? finding(subject, 'ok', [store.message])
        : finding(subject, 'warning', [store.message], remedyOf(store, platform));
    case 'unavailable':
      return finding(subject, 'skipped', [store.message], remedyOf(store, platform));
    case 'untrusted':
    case 'other_root':
      return finding(subject, 'warning', [store.message], remedyOf(store, platform));
  }
}

function remedyOf(
  { store, state, handshake, needs, command, otherRoots, superseded, wider }: StoreTrust,
  platform: NodeJS.Platform,
): Remedy {
  if (command !== undefined) {
    return {
      fix: `Paste the command${needs === undefined ? '' : `; it needs ${needs}`}.`,
      commands: command.split('\n'),
    };
  }
  if (state === 'unavailable') return { fix: needs === undefined ? 'No action is needed.' : `It needs ${needs}.` };
  if (state === 'trusted' && superseded === undefined && wider !== undefined)
    return {
      fix: 'Remove the older certificate with the store’s own tool: Vivarium cannot change the file that it is in.',
    };
  if (state === 'trusted' && superseded === undefined && otherRoots !== undefined) {
    return {
      fix: 'Remove the root of the other Vivarium if it is no longer used.',
      commands: otherRoots.map(
        ({ fingerprint }) =>
          `vivarium ca untrust ${shellWord(store, platform)} --fingerprint ${shellWord(fingerprint, platform)}`,
      ),
    };
  }
  const trust = `vivarium ca trust ${shellWord(store, platform)}`;
  if (handshake === 'refused') {
    return {
      fix: 'Remove the root from the store and add it again.',
      commands: [`vivarium ca untrust ${shellWord(store, platform)}`, trust],
    };
  }
  return {
    fix: 'Trust the root there, so that programs that use this store open your hostnames without a warning.',
    commands: [trust],
  };
}

export function evaluateNoStores(): DoctorCheck {
  return finding(
    { area: 'trust', name: 'none', title: 'Trust stores' },
    'skipped',
    ['None was found on this machine.'],
    {
      fix: 'Give clients the root’s file: curl --cacert, NODE_EXTRA_CA_CERTS.',
    },
  );
}

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
