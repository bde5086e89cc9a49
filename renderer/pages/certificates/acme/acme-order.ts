import type { AcmeExplanation, AcmeLimits, AcmeOrderInfo } from '../../../../main/contract/acme.ts';
import type { CaaVerdict } from '../../../../main/contract/certificates.ts';
import { closestZone, nameWithin } from '../../../../main/contract/record-plan.ts';
import type { ZoneInfo } from '../../../../main/contract/zones.ts';
import type { IconName } from '../../../shared/display/icons.ts';
import type { Look, Tone } from '../../../shared/display/tone.ts';
import type { Place } from '../../../shared/navigation/places.ts';
import { levelAt, type Gauge } from '../../../shared/limits/callers.ts';

type Step = AcmeExplanation['walk'][number];
type Attempt = Step['attempts'][number];

type State = { tone: Tone; icon: IconName; text: string };

const ORDER_STATES: Record<AcmeOrderInfo['status'], State> = {
  pending: { tone: 'water', icon: 'pending', text: 'pending' },
  ready: { tone: 'water', icon: 'pending', text: 'ready' },
  processing: { tone: 'water', icon: 'waiting', text: 'processing' },
  valid: { tone: 'moss', icon: 'ok', text: 'issued' },
  invalid: { tone: 'brick', icon: 'failed', text: 'failed' },
};

export const stateOf = ({ status, revoked }: Pick<AcmeOrderInfo, 'status' | 'revoked'>): State =>
  revoked === true ? { tone: 'amber', icon: 'ban', text: 'revoked' } : ORDER_STATES[status];

export const STEP_LOOKS: Record<Step['state'], Look> = {
  done: { tone: 'moss', icon: 'check', word: 'done' },
  waiting: { tone: 'water', icon: 'waiting', word: 'waiting' },
  failed: { tone: 'brick', icon: 'close', word: 'failed', ends: true },
  unused: { tone: 'none', icon: 'up', word: 'not used' },
};

/** `a.test`, `a.test and 2 more`. */
export const titleOf = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first} and ${more.length} more`;

/** The place of the decisive CAA records; undefined if there are none, or their zone is not here. */
export function recordPlace({ foundAt }: CaaVerdict, zones: readonly ZoneInfo[]): Place | undefined {
  const zone = foundAt === undefined ? null : closestZone(foundAt, zones);
  if (foundAt === undefined || zone === null) return undefined;
  return { page: 'dns', item: zone.name, query: { record: `${nameWithin(foundAt, zone.name)} CAA` } };
}

export interface TrafficPlaces {
  /** Of Vivarium's own listeners. */
  ports: readonly (number | undefined)[];
  /** The slug of the project that a hostname leads to. */
  projectOf: (hostname: string) => string | undefined;
}

/** The link of an attempt: a DNS attempt links to a repeated query, an HTTP one to its request in the traffic. */
export function attemptPlace(
  { question, request }: Attempt,
  { ports, projectOf }: TrafficPlaces,
): { place: Place; label: string } | undefined {
  if (question !== undefined) {
    return { place: { page: 'dns', query: { ask: `${question.name} ${question.type}` } }, label: 'Ask again' };
  }
  const project = request === undefined || !ports.includes(request.port) ? undefined : projectOf(request.hostname);
  if (request === undefined || project === undefined) return undefined;
  const filter = `host:${request.hostname} path:${request.path}`;
  return { place: { page: 'traffic', project, query: { filter } }, label: 'In the traffic' };
}

/** Gauges of one limit, at most. */
const GAUGES_MAX = 5;

/** The heaviest uses of a limit, for gauges. */
export const fullestOf = ({ count, used }: AcmeLimits['limits'][number]): { of: string; gauge: Gauge }[] =>
  used
    .toSorted((a, b) => a.left - b.left)
    .slice(0, GAUGES_MAX)
    .map(({ of, left, fullAt }) => {
      const taken = count - left;
      return { of, gauge: { limit: count, used: taken, level: levelAt(taken, count), resetsAtMs: Date.parse(fullAt) } };
    });

/** The command that a refusal names, to copy. */
export const commandIn = (detail: string): string | undefined =>
  /\bvivarium (?:ca extend \S+|zone create \S+|acme reset-limits)/.exec(detail)?.[0].replace(/[.;,]$/, '');

/** A problem's type in words: `rate limited`. */
export const wordsOf = (type: string): string =>
  type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').replace(/ [A-Z](?=[a-z])/g, (word) => word.toLowerCase());
