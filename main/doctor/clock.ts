import type { ClockState } from '../base/clock.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { agoText, finding, isoText } from './finding.ts';

/** Whether the app's clock shows the real time. Moving it is legitimate; the warning is for users who forgot. */
export function evaluateAppClock({ now, realNow, offsetMs, frozen }: ClockState): DoctorCheck {
  const subject = { area: 'clock', name: 'app', title: 'The app’s clock' } as const;
  if (!frozen && offsetMs === 0) return finding(subject, 'ok', ['It shows the real time.']);
  const distance = `${agoText(Math.abs(offsetMs))} ${offsetMs < 0 ? 'behind' : 'ahead of'} the real time`;
  const evidence = [
    `It is ${frozen ? 'frozen' : 'moved'}: ${isoText(now)}, ${distance}, ${isoText(realNow)}.`,
    'Rate windows, bans, certificates and propagation follow it.',
  ];
  return finding(subject, 'warning', evidence, {
    fix: 'If that is not intended, reset it.',
    commands: ['vivarium clock reset'],
  });
}

/** The machine's clock, and past times to compare it with. */
export interface MachineClockEvidence {
  realNowMs: number;
  /** Events that certainly happened: "the root was made". */
  past: readonly { what: string; atMs: number }[];
}

/** File times and the current time may differ slightly on one machine. */
const TOLERANCE_MS = 120_000;

/** Whether the machine's own clock can be right: it is wrong if a past event lies in its future. */
export function evaluateMachineClock({ realNowMs, past }: MachineClockEvidence): DoctorCheck {
  const subject = { area: 'clock', name: 'machine', title: 'The machine’s clock' } as const;
  const now = `It shows ${isoText(realNowMs)}.`;
  const future = past.filter(({ atMs }) => atMs > realNowMs + TOLERANCE_MS);
  if (future.length === 0) return finding(subject, 'ok', [now]);
  return finding(
    subject,
    'failed',
    [now, ...future.map(({ what, atMs }) => `But ${what} at ${isoText(atMs)}, which is in the future.`)],
    {
      fix: 'Set the date of this machine and turn on network time; clients refuse certificates otherwise.',
    },
  );
}
