import type { RunningBreak } from '../../../main/contract/breaks.ts';
import type { ApiKey, CallerUsage } from '../../../main/contract/callers.ts';
import type { PetRecord } from '../../../main/contract/pets.ts';
import { factsOf, type Plan } from '../../../main/contract/plans.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { StatusReport } from '../../../main/contract/status.ts';

export const CREATED_AT = '2026-11-20T09:00:00.000Z';

/** A project at its platform addresses, or at those of `hostname`. */
export function makeProject(name: string, options: { plan?: Plan; hostname?: string; slug?: string } = {}): Project {
  const slug = options.slug ?? name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const host = options.hostname ?? `${slug}.vivarium.localhost`;
  const staging = `${slug}-staging.vivarium.localhost`;
  const plan = options.plan ?? 'free';
  return {
    id: `prj_${slug}`,
    name,
    slug,
    plan,
    limits: factsOf(plan).limits ?? { perMinute: 5_000, perDay: 1_000_000 },
    target: { kind: 'api' },
    baseUrl: { production: `http://${host}:8080/v1`, staging: `http://${staging}:8080/v1` },
    secureBaseUrl: { production: `https://${host}:8443/v1`, staging: `https://${staging}:8443/v1` },
    primary: options.hostname ?? null,
    redirects: [],
    persona: 'animal-store',
    createdAt: CREATED_AT,
  };
}

const NAMES = ['Ada', 'Biscuit', 'Clover', 'Domino', 'Ember', 'Fig', 'Ginger', 'Hazel', 'Indigo', 'Juniper'];
const STATUSES = ['available', 'available', 'pending', 'available', 'sold'] as const;

export const makePets = (count: number): PetRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index + 1),
    name: NAMES[index % NAMES.length] ?? 'Ada',
    categoryId: String((index % 4) + 1),
    status: STATUSES[index % STATUSES.length] ?? 'available',
  }));

export const makeBreak = (id: string, rest: Partial<RunningBreak> = {}): RunningBreak => ({
  id,
  entry: 'dns.servfail',
  title: `${rest.entry ?? 'dns.servfail'} title`,
  on: { hostname: 'shop.acme.test' },
  rate: 1,
  after: 0,
  nth: 1,
  seed: 7,
  parameters: {},
  startedAt: CREATED_AT,
  until: '2026-11-20T09:10:00.000Z',
  seen: 0,
  struck: 0,
  ...rest,
});

export const makeKey = (id: string, name: string, rest: Partial<ApiKey> = {}): ApiKey => ({
  id,
  name,
  prefix: 'viv_3fQ9',
  createdAt: CREATED_AT,
  ...rest,
});

export interface UsageNumbers {
  limits: Project['limits'];
  minute: number;
  day: number;
  /** Epoch milliseconds. */
  nowMs: number;
  rest?: Partial<CallerUsage>;
}

/** A caller 18 s into its minute and 2 h into its day. */
export function makeUsage(caller: string, { limits, minute, day, nowMs, rest = {} }: UsageNumbers): CallerUsage {
  return {
    caller,
    ...(caller.startsWith('key:') && { keyId: caller.slice('key:'.length) }),
    minute: { limit: limits.perMinute, used: minute, resetsAt: new Date(nowMs + 42_000).toISOString() },
    day: { limit: limits.perDay, used: day, resetsAt: new Date(nowMs + 22 * 3_600_000).toISOString() },
    strikes: 0,
    ...rest,
  };
}

export const makeStatus = (): StatusReport => ({
  version: '0.1.0',
  platformZone: 'vivarium.localhost',
  dataDir: '/home/ada/.local/share/vivarium',
  ports: { http: 8080, https: 8443, dns: 5380, control: 4780 },
  urls: { control: 'http://127.0.0.1:4780', http: 'http://127.0.0.1:8080', https: 'https://127.0.0.1:8443' },
  counts: { projects: 1, keys: 1, domains: 0, pets: 60, requests: 0, refused: 0, connections: 0 },
  warnings: [],
});
