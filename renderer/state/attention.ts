import type { Deploy } from '../../main/contract/deploys.ts';
import type { Domain } from '../../main/contract/domains.ts';
import type { IconName } from '../components/shared/icons.ts';
import type { Tone } from '../components/shared/tone.ts';
import type { Place } from '../navigation/places.ts';
import { banAt, type NamedCaller } from './callers.ts';

/** A problem that needs the user's attention, with a link to its fix. */
export interface Attention {
  id: string;
  tone: Extract<Tone, 'amber' | 'brick'>;
  icon: IconName;
  text: string;
  /** The end of a temporary problem, in epoch milliseconds on the app's clock. */
  untilMs?: number;
  /** The address and label of the link. */
  link?: { place: Omit<Place, 'project'>; label: string };
}

export interface AttentionSources {
  /** The engine's own messages, except the one about the clock, which the band shows on every page. */
  warnings: readonly string[];
  domains: readonly Domain[];
  callers: readonly NamedCaller[];
  /** Newest first. */
  deploys: readonly Deploy[];
  nowMs: number;
}

/** The problems of a project and of Vivarium, those that block requests first. */
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

/** Reports the first problem of a domain; a pending step is not a problem. */
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
      text: `${name} is banned: it kept calling after it was refused.`,
      untilMs,
      link: { place: { page: 'limits' }, label: 'Keys and limits' },
    },
  ];
}
