import { DAY_MS, MINUTE_MS } from '../contract/duration.ts';
import type { BreakPoint, RunningBreak } from '../contract/breaks.ts';
import type { DoctorArea, DoctorCheck, DoctorStatus } from '../contract/doctor.ts';
import { BROKEN_ON_PURPOSE } from '../model/dns-lookup.ts';

/** The fix: a sentence, and commands to paste. */
export interface Remedy {
  fix: string;
  commands?: readonly string[] | undefined;
  /** What the commands do. */
  about?: string;
  /** An alternative to the commands. */
  otherwise?: string;
}

type Outcome = (evidence: string | readonly string[], fix?: string | Remedy, run?: readonly string[]) => DoctorCheck;

/** The check of a subject by each status. `name`: unique in its area. `projectId`: of a custom domain or an upstream. */
export function checkOf(area: DoctorArea, name: string, title: string, projectId?: string) {
  const as =
    (status: DoctorStatus): Outcome =>
    (evidence, fix, run) => {
      const remedy = typeof fix === 'string' ? { fix, commands: run } : fix;
      return {
        id: `${area}.${name}`,
        area,
        ...(projectId !== undefined && { projectId }),
        title,
        status,
        evidence: [evidence].flat(),
        ...(remedy !== undefined && { fix: remedy.fix }),
        ...(remedy?.commands !== undefined && { commands: remedy.commands.join('\n') }),
        ...(remedy?.about !== undefined && { about: remedy.about }),
        ...(remedy?.otherwise !== undefined && { otherwise: remedy.otherwise }),
      };
    };
  const down: Outcome = (...found) => ({ ...as('warning')(...found), down: true });
  return { down, ok: as('ok'), skipped: as('skipped'), warning: as('warning'), failed: as('failed') };
}

/** A running break that clients of a checked hostname meet, and where it acts; unknown for a drill. */
export type MetBreak = Pick<RunningBreak, 'id' | 'entry' | 'title' | 'until'> & { at: BreakPoint | undefined };

/** Whether it strikes requests only, and no handshake or DNS answer. */
export const isOfRequests = ({ at }: MetBreak): boolean => at === 'request' || at === 'delay';

/** Whether a handshake of the doctor would count as one that it strikes. */
export const strikesHandshakes = ({ at }: MetBreak): boolean => at === 'handshake' || at === 'connection';

export const UNTRIED = 'No handshake was tried, because the break would have counted it.';

const outcomesOf = ({ id, area, title, projectId }: DoctorCheck) =>
  checkOf(area, id.slice(area.length + 1), title, projectId);

/** What to do about breaks. */
function repairOf(ids: readonly string[]): Remedy {
  const [what, ends] = ids.length === 1 ? ['the break', 'it ends'] : ['the breaks', 'they end'];
  return {
    fix: `Repair ${what}, or wait until ${ends}: what is wrong then has another cause.`,
    commands: ids.map((id) => `vivarium break off ${id}`),
  };
}

/** A check of which running breaks have replaced evidence, as `marks` say. */
export function brokenCheck(check: DoctorCheck, marks: readonly string[], ids: readonly string[]): DoctorCheck {
  const { status, down } = check;
  if (ids.length === 0 || (status !== 'failed' && status !== 'warning')) return check;
  const broken = outcomesOf(check)[status]([...check.evidence, ...marks], repairOf(ids));
  return down === true ? { ...broken, down } : broken;
}

const namedText = ({ title, entry, until }: MetBreak): string =>
  `${BROKEN_ON_PURPOSE}: ${title} (${entry}), until ${until}.`;

/** A check of what running breaks have edited. */
export const underEdits = (check: DoctorCheck, breaks: readonly MetBreak[]): DoctorCheck =>
  brokenCheck(
    check,
    breaks.map(namedText),
    breaks.map(({ id }) => id),
  );

/** A check while breaks strike its subject: they are the cause, unless it fails for what none of them can strike. */
export function underBreaks(check: DoctorCheck, met: readonly MetBreak[]): DoctorCheck {
  const breaks = [...new Map(met.map((each) => [each.id, each])).values()];
  if (breaks.length === 0) return check;
  const named = breaks.map(namedText);
  if (check.status !== 'ok' && breaks.every(isOfRequests)) return { ...check, evidence: [...named, ...check.evidence] };
  const { warning, down } = outcomesOf(check);
  // As on the page of a domain: a break is a warning, whatever it does to clients.
  return (check.down === true ? down : warning)([...named, ...check.evidence], repairOf(breaks.map(({ id }) => id)));
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `512 bytes`, `3.4 GB`; decimal units, as disks are sold and file managers count. */
export function bytesText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

const HOUR_MS = 60 * MINUTE_MS;

/** A rounded-down duration: `3 days`, `1 hour`, `less than a minute`. */
export function agoText(ms: number): string {
  for (const [unitMs, unit] of [
    [DAY_MS, 'day'],
    [HOUR_MS, 'hour'],
    [MINUTE_MS, 'minute'],
  ] as const) {
    const count = Math.floor(ms / unitMs);
    if (count > 0) return `${count} ${unit}${count === 1 ? '' : 's'}`;
  }
  return 'less than a minute';
}

export const isoText = (atMs: number): string => new Date(atMs).toISOString();

/** `127.0.0.1:8080`, `[::1]:8080`. */
export const addressText = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
