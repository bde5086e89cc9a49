import type { Deploy } from '../../../main/contract/projects.ts';
import type { DoctorCheck } from '../../../main/contract/doctor.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { IconName } from '../../shared/display/icons.ts';
import type { Tone } from '../../shared/display/tone.ts';
import type { Place } from '../../shared/navigation/places.ts';
import { formatCounted } from '../../shared/time/format.ts';
import { banAt, type NamedCaller } from '../../shared/limits/callers.ts';
import { unicodeOf } from '../../shared/domains/unicode-name.ts';
import { IN_WALK, needsAttention, summaryOf, troubleIn, type Summary } from '../../shared/domains/domain-summary.ts';

/** A problem that needs the user's attention, with a link to its fix. */
export interface Attention {
  id: string;
  tone: Extract<Tone, 'amber' | 'brick'>;
  icon: IconName;
  text: string;
  link?: { place: Omit<Place, 'project'>; label: string; about?: string };
  action?: AttentionAction;
}

/** An action offered beside a problem. */
export type AttentionAction =
  | { kind: 'deploy' }
  | { kind: 'lift'; keyId: string; name: string }
  | { kind: 'verify'; hostnames: readonly string[] };

export interface AttentionSources {
  /** The engine's own messages, except the one about the clock, which the band shows on every page. */
  warnings: readonly string[];
  domains: readonly Domain[];
  callers: readonly NamedCaller[];
  /** Newest first. */
  deploys: readonly Deploy[];
  /** The check of the project's upstream, if it has one. */
  target: DoctorCheck | undefined;
  nowMs: number;
}

/** The problem that leads: its action is the page’s main button. */
export const TARGET = 'target';

/** The problems of a project and of Vivarium, those that block requests first. */
export function listAttention({ warnings, domains, callers, deploys, target, nowMs }: AttentionSources): Attention[] {
  return [
    ...(target === undefined || target.status === 'ok' ? deployAttention(deploys) : targetAttention(target)),
    ...domainsAttention(domains),
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
      link: { place: { page: 'project' }, label: 'Settings' },
      action: { kind: 'deploy' },
    },
  ];
}

/** A server that does not answer, which explains a failed deploy, too. */
const targetAttention = ({ evidence }: DoctorCheck): Attention[] => [
  {
    id: TARGET,
    tone: 'brick',
    icon: 'failed',
    // Not the status of the answers, which a break may change.
    text: `${evidence[0]} Start your server there, or change the address.`,
    link: { place: { page: 'project', query: { field: 'Address' } }, label: 'Change' },
    action: { kind: 'deploy' },
  },
];

/** The problems of the domains, those with the same cause as one. */
function domainsAttention(domains: readonly Domain[]): Attention[] {
  const found = domains.filter(needsAttention).map((domain) => ({ domain, summary: summaryOf(domain) }));
  const groups = Map.groupBy(found, ({ summary: { tone, title } }) => `${tone} ${title}`);
  return [...groups].flatMap(([cause, group]) =>
    group.slice(0, 1).map((first) => domainAttention(first, cause, group)),
  );
}

function domainAttention({ domain, summary }: Found, cause: string, group: readonly Found[]): Attention {
  const { hostname } = domain;
  const of = { tone: summary.tone === 'brick' ? 'brick' : 'amber', icon: summary.icon } as const;
  if (group.length === 1) {
    const trouble = troubleIn(domain);
    return {
      ...of,
      id: `domain ${hostname}`,
      text:
        trouble !== undefined && !(trouble.code in IN_WALK)
          ? trouble.message
          : `${unicodeOf(hostname)}: ${summary.title}.`,
      link: { place: { page: 'domains', item: hostname }, label: 'Show', about: `Show ${unicodeOf(hostname)}` },
    };
  }
  return {
    ...of,
    id: `domains ${cause}`,
    text: `${summary.title}: ${formatCounted(group.length, 'domain', 'domains')}, such as ${hostname}.`,
    link: { place: { page: 'domains', query: { state: 'attention' } }, label: 'Domains' },
    action: { kind: 'verify', hostnames: group.map((each) => each.domain.hostname) },
  };
}

interface Found {
  domain: Domain;
  summary: Summary;
}

function banAttention({ usage, name }: NamedCaller, nowMs: number): Attention[] {
  if (banAt(usage, nowMs) === undefined) return [];
  return [
    {
      id: `ban ${usage.caller}`,
      tone: 'brick',
      icon: 'ban',
      text: `${name} is banned: it kept calling after it was refused.`,
      link: { place: { page: 'limits' }, label: 'Keys and limits' },
      ...(usage.keyId !== undefined && { action: { kind: 'lift', keyId: usage.keyId, name } as const }),
    },
  ];
}
