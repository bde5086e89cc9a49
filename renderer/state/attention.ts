import type { Deploy } from '../../main/contract/deploys.ts';
import type { Domain } from '../../main/contract/domains.ts';
import type { IconName } from '../components/shared/icons.ts';
import type { Tone } from '../components/shared/tone.ts';
import type { Place } from '../navigation/places.ts';
import { banAt, type NamedCaller } from './callers.ts';

/** Something that someone should look at: what it is, and where it is dealt with. */
export interface Attention {
  id: string;
  tone: Extract<Tone, 'amber' | 'brick'>;
  icon: IconName;
  text: string;
  /** Until when, on the app's clock, in epoch milliseconds: of what passes by itself. */
  untilMs?: number;
  /** Where to go, and how the way there is called. */
  link?: { place: Omit<Place, 'project'>; label: string };
}

export interface AttentionSources {
  /** In the engine's own sentences; without the one about the clock, which the band says on every page. */
  warnings: readonly string[];
  domains: readonly Domain[];
  callers: readonly NamedCaller[];
  /** Newest first. */
  deploys: readonly Deploy[];
  nowMs: number;
}

/** What of a project, and of Vivarium, is not as it should be; what keeps requests from being served first. */
export function listAttention({ warnings, domains, callers, deploys, nowMs }: AttentionSources): Attention[] {
  return [
    ...deployAttention(deploys),
    ...domains.flatMap(domainAttention),
    ...callers.flatMap((caller) => banAttention(caller, nowMs)),
    ...warnings.map((text): Attention => ({ id: `warning ${text}`, tone: 'amber', icon: 'warning', text })),
  ];
}

function deployAttention([latest]: readonly Deploy[]): Attention[] {
  if (latest?.status !== 'failed') return [];
  return [
    {
      id: 'deploy',
      tone: 'brick',
      icon: 'failed',
      text: `The last deploy failed. ${latest.reason ?? ''}`.trim(),
      link: { place: { page: 'general' }, label: 'Deploys' },
    },
  ];
}

/** A domain is told by the first thing that is wrong with it. What merely takes its time is not. */
function domainAttention({ hostname, state, checks }: Domain): Attention[] {
  const wrong =
    checks.find(({ outcome }) => outcome === 'failed') ?? checks.find(({ outcome }) => outcome === 'unknown');
  if (wrong === undefined) return [];
  const isServed = state === 'verified';
  return [
    {
      id: `domain ${hostname}`,
      tone: wrong.outcome === 'failed' && !isServed ? 'brick' : 'amber',
      icon: wrong.outcome === 'unknown' ? 'unknown' : 'failed',
      text: wrong.message,
      link: { place: { page: 'domains', item: hostname }, label: hostname },
    },
  ];
}

function banAttention({ usage, name }: NamedCaller, nowMs: number): Attention[] {
  const untilMs = banAt(usage, nowMs);
  if (untilMs === undefined) return [];
  return [
    {
      id: `ban ${usage.caller}`,
      tone: 'brick',
      icon: 'ban',
      text: `${name} is banned: it went on asking after it was refused.`,
      untilMs,
      link: { place: { page: 'limits' }, label: 'Keys and limits' },
    },
  ];
}
