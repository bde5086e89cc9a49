import type { Domain } from '../contract/domains.ts';
import type { Services } from '../contract/index.ts';
import type { CallerUsage } from '../contract/callers.ts';

export interface Notice {
  title: string;
  body: string;
}

/** The state that notices are about, at one moment. */
export interface Condition {
  /** For each attached domain, the schemes over which it is served. */
  served: ReadonlyMap<string, Domain['serving']>;
  /** When the bans of API keys end, by key id. */
  bans: ReadonlyMap<string, { project: string; until: string }>;
}

type ReadDomain = Pick<Domain, 'hostname' | 'serving'>;
type ReadCaller = Pick<CallerUsage, 'keyId' | 'bannedUntil'>;

/** @throws VivariumError (rejects) when the engine stops meanwhile */
export async function readCondition(
  { projects, domains, limits }: Pick<Services, 'projects' | 'domains' | 'limits'>,
  context: { signal: AbortSignal },
): Promise<Condition> {
  const listed = await projects.list(undefined, context);
  const attached = await domains.list({}, context);
  // Last, because its rejection would be unhandled while domains are awaited.
  const usages = listed.map(async ({ id, name }) => ({
    name,
    callers: await limits.usage({ projectId: id }, context),
  }));
  return conditionOf(attached, await Promise.all(usages));
}

export function conditionOf(
  domains: readonly ReadDomain[],
  projects: readonly { name: string; callers: readonly ReadCaller[] }[],
): Condition {
  const bans = projects.flatMap(({ name, callers }) =>
    callers.flatMap(({ keyId, bannedUntil: until }) =>
      keyId === undefined || until === undefined ? [] : [[keyId, { project: name, until }] as const],
    ),
  );
  return { served: new Map(domains.map(({ hostname, serving }) => [hostname, serving])), bans: new Map(bans) };
}

/** Maximum notices of one kind; more are combined into one with a count. */
const EACH_MAX = 3;

/** The changes from `before` to `after`. A removed domain is not reported, because the user removed it. */
export function noticesBetween(before: Condition, after: Condition): Notice[] {
  const lost = [...after.served].flatMap(([hostname, { http, https }]) => {
    const earlier = before.served.get(hostname);
    if (earlier?.http === true && !http) return [`${hostname} is no longer served`];
    return earlier?.https === true && !https ? [`${hostname} is no longer served over HTTPS`] : [];
  });
  const banned = [...after.bans].filter(([key, { until }]) => before.bans.get(key)?.until !== until);
  return [
    ...few(
      lost.map((title) => ({ title, body: 'Domains says why, and what to do.' })),
      (count) => `${count} domains are no longer served`,
    ),
    ...few(
      banned.map(([, { project, until }]) => ({
        title: `An API key of ${project} is banned`,
        body: `It kept sending requests after refusals. The ban ends at ${until} on the app’s clock; Limits can lift it.`,
      })),
      (count) => `${count} API keys are banned`,
    ),
  ];
}

const few = (notices: readonly Notice[], summary: (count: number) => string): readonly Notice[] =>
  notices.length <= EACH_MAX ? notices : [{ title: summary(notices.length), body: 'The window says which.' }];
