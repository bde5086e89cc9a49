import type { StageName } from '../../../../main/contract/stages.ts';
import type { TrafficDetail, TrafficEntry } from '../../../../main/contract/traffic.ts';
import type { IconName } from '../../../shared/display/icons.ts';
import type { Tone } from '../../../shared/display/tone.ts';

const CLASSES: Record<number, { tone: Tone; icon: IconName }> = {
  1: { tone: 'water', icon: 'link' },
  2: { tone: 'moss', icon: 'ok' },
  3: { tone: 'water', icon: 'redirect' },
  4: { tone: 'amber', icon: 'warning' },
  5: { tone: 'brick', icon: 'failed' },
};

type Outcome = Pick<TrafficEntry, 'status' | 'aborted' | 'running' | 'fault'>;

interface StatusLook {
  tone: Tone;
  icon: IconName;
  text: string;
  title: string | undefined;
}

/** The outcome of an exchange for display, never by colour alone. */
export function statusLook({ fault, ...outcome }: Outcome): StatusLook {
  const look = lookOf(outcome);
  return fault === undefined
    ? look
    : { ...look, icon: 'breaks', title: `Broken on purpose: ${fault.title ?? fault.entry}` };
}

function lookOf({ status, aborted, running }: Outcome): StatusLook {
  if (running === true) {
    return { tone: 'water', icon: 'waiting', text: status === null ? 'runs' : String(status), title: 'Still running' };
  }
  if (status === null) {
    return {
      tone: 'neutral',
      icon: 'unplugged',
      text: 'none',
      title: 'The client disconnected before there was an answer',
    };
  }
  const look = CLASSES[Math.floor(status / 100)] ?? { tone: 'neutral' as const, icon: 'unknown' as const };
  if (aborted)
    return { ...look, icon: 'unplugged', text: String(status), title: 'It ended before the answer was complete' };
  return { ...look, text: String(status), title: status === 101 ? 'A WebSocket, or another upgrade' : undefined };
}

/** The requested hostname without port; empty if there was none. */
export const hostnameOf = ({ authority }: Pick<TrafficEntry, 'authority'>): string =>
  (authority ?? '').replace(/:\d+$/, '');

export const hostnameIn = (url: string): string => new URL(url).hostname;

/** HTTP/2 has no minor version (RFC 9113). */
export const protocolOf = ({ httpVersion }: Pick<TrafficEntry, 'httpVersion'>): string =>
  `HTTP/${httpVersion === '2.0' ? '2' : httpVersion}`;

export const STAGE_WORK: Record<StageName, string> = {
  listener: 'takes the request',
  authority: 'reads the requested authority',
  route: 'finds the project',
  redirect: 'redirects it to another hostname',
  identify: 'finds the API key',
  limit: 'counts it and enforces the limits',
  break: 'applies running breaks',
  target: 'answers it',
};

export interface TimedPart {
  part: TrafficDetail['timings'][number]['part'];
  label: string;
  ms: number;
  /** Start and length, as shares of the total. */
  from: number;
  share: number;
}

const PARTS: Record<TimedPart['part'], string> = {
  stages: 'In the stages',
  waiting: 'Waiting for the target',
  receiving: 'Sending the answer',
};

/** The phases of an exchange, in order. */
export function timeline(timings: TrafficDetail['timings']): TimedPart[] {
  const whole = timings.reduce((sum, { ms }) => sum + ms, 0) || 1;
  let passed = 0;
  return timings.map(({ part, ms }) => {
    const from = passed / whole;
    passed += ms;
    return { part, label: PARTS[part], ms, from, share: ms / whole };
  });
}
