import type { DesktopFacts } from '../base/system/desktop.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { finding } from './finding.ts';

/** Facts for bug reports about the window, and the settings that keep the window secure. */
export const evaluateDesktop = (facts: DesktopFacts): DoctorCheck[] => [
  evaluateRuntime(facts),
  evaluateSandbox(facts),
  evaluateKeyring(facts),
  evaluateTray(facts),
];

function evaluateRuntime({ electron, chromium, cryptography, session, gpu }: DesktopFacts): DoctorCheck {
  return finding({ area: 'desktop', name: 'runtime', title: 'Electron' }, 'ok', [
    `Electron ${electron}, Chromium ${chromium}, cryptography by ${cryptography}.`,
    `Session: ${session}. GPU acceleration, as Chromium reports it: ${gpu}.`,
  ]);
}

function evaluateSandbox({ sandboxed }: DesktopFacts): DoctorCheck {
  const subject = { area: 'desktop', name: 'sandbox', title: 'Sandbox' } as const;
  if (sandboxed) return finding(subject, 'ok', ['Chromium runs pages in its sandbox.']);
  return finding(
    subject,
    'failed',
    ['Chromium was started with --no-sandbox, so a page could do anything that you can.'],
    {
      fix: 'Start Vivarium without --no-sandbox; an AppImage adds it where the system denies user namespaces, and the Debian package does not need it.',
    },
  );
}

function evaluateKeyring({ keyring }: DesktopFacts): DoctorCheck {
  const subject = { area: 'desktop', name: 'keyring', title: 'Keyring' } as const;
  switch (keyring.state) {
    case 'sealed':
      return finding(subject, 'ok', ['The keyring has sealed or opened the root’s key since the start.']);
    case 'refused':
      return finding(subject, 'warning', [keyring.reason], {
        fix: 'The root’s key stays in its file, which only you can read; start a keyring if you want it sealed.',
      });
    case 'untried':
      return finding(subject, 'skipped', ['Nothing has been sealed since the start; the setting caKey would try it.']);
  }
}

function evaluateTray({ tray }: DesktopFacts): DoctorCheck {
  const subject = { area: 'desktop', name: 'tray', title: 'Tray' } as const;
  if (!tray) return finding(subject, 'skipped', ['The app has no icon in the tray yet.']);
  return finding(subject, 'ok', [
    'The app has an icon in the tray. GNOME shows none without an extension; starting Vivarium again brings its window back.',
  ]);
}
