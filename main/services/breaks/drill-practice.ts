import { CNAME_TARGET, platformHostname } from '../../base/config.ts';
import type { Breaks } from '../../breaks/breaks.ts';
import { BREAK_FOR_MS_MAX, DRILL_ENTRY } from '../../contract/breaks.ts';
import { DEFAULT_SETTINGS } from '../../contract/default-settings.ts';
import { conflict, type VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { CALL, mention } from '../../contract/calls.ts';
import { TRAFFIC_LIST_MAX, type TrafficEntry } from '../../contract/traffic.ts';
import { DRILL_DOMAIN, DRILL_SLUG, DRILL_ZONE, type DrillProblem, type PracticeGround } from '../../drills/drill.ts';
import type { Practice } from '../../drills/drills.ts';
import type { FixFacts, SeenRequest } from '../../drills/fix.ts';

const PETS = 20;

/** The number of refusals whose `Retry-After` is checked. */
const REFUSALS_MAX = 100;

/** Nothing listens there: port 1 is reserved (tcpmux), and needs a privileged program. */
const DEAD_TARGET = 'http://127.0.0.1:1';

/** Settings that make a domain ready, and checkable, without delay. */
const PROMPT = ['propagation', 'issuanceDelay', 'resolver'] as const;

/** Creates practice projects with the ordinary services, so a drill has nothing else to undo. */
export function createPractice(options: {
  services: () => Services;
  breaks: Pick<Breaks, 'start' | 'stopHidden'>;
  /** Values for the placeholders in texts, except `{key}`. */
  addresses: (slug: string) => Readonly<Record<string, string>>;
  ownCommand: (command: string) => string;
}): Practice {
  const { services, breaks, addresses, ownCommand } = options;
  async function findProject(ground: PracticeGround | null) {
    const all = await services().projects.list(undefined, CALL);
    return all.find(({ id, slug }) => (ground === null ? slug === DRILL_SLUG : id === ground.projectId));
  }

  const hasZone = async (): Promise<boolean> =>
    [...(await services().zones.list(undefined, CALL))].some(({ name }) => name === DRILL_ZONE);

  return {
    async check({ place }) {
      const settings = await services().settings.get(undefined, CALL);
      const taken = (await findProject(null)) !== undefined;
      if (taken) throw blockedBy(`a project has the slug "${DRILL_SLUG}"`, 'Give that project another slug');
      if (!settings.traffic.record) {
        const how = mention('settings.update', { traffic: { record: true, bodies: settings.traffic.bodies } });
        throw blockedBy('drills read recorded requests, and recording is off', `Switch it on: ${how}`);
      }
      if (place === 'project') return;
      if (await hasZone()) throw blockedBy(`there is a zone ${DRILL_ZONE}`, 'Remove that zone');
      const late = PROMPT.filter((name) => JSON.stringify(settings[name]) !== JSON.stringify(DEFAULT_SETTINGS[name]));
      if (late.length === 0) return;
      const preset = Object.fromEntries(late.map((name) => [name, DEFAULT_SETTINGS[name]]));
      throw blockedBy(
        `these settings differ from their defaults: ${late.join(', ')}`,
        `Reset them for the drill: ${mention('settings.update', preset)}`,
      );
    },
    async make({ place }) {
      const { projects, deploys, keys, pets } = services();
      const { id: projectId } = await projects.create({ name: 'Drill', slug: DRILL_SLUG, plan: 'pro' }, CALL);
      await pets.seed({ projectId, environment: 'production', count: PETS, skip: 0 }, CALL);
      await deploys.create({ projectId }, CALL);
      const key = await keys.create({ projectId, name: 'Drill key' }, CALL);
      const serial = place === 'domain' ? await makeDomain(services(), projectId) : null;
      return {
        projectId,
        hostname: platformHostname(DRILL_SLUG, 'production'),
        keyId: key.id,
        secret: key.secret,
        serial,
      };
    },
    async createProblems({ problems }, ground) {
      for (const problem of problems) await createProblem(services(), breaks, problem, ground);
    },
    async remove(ground) {
      await breaks.stopHidden();
      const project = await findProject(ground);
      if (project !== undefined) await services().projects.remove({ projectId: project.id }, CALL);
      if (await hasZone()) await services().zones.remove({ name: DRILL_ZONE }, CALL);
    },
    async observe({ fix }, ground) {
      const isThere = (await findProject(ground)) !== undefined;
      const ofDomain =
        isThere && fix.kind === 'serves'
          ? await verified(services(), fix.hostname)
          : { domain: null, certificate: null };
      return { ground, isThere, requests: isThere ? await requestsOf(services(), ground.projectId) : [], ...ofDomain };
    },
    fill(text, { secret }) {
      const values: Readonly<Record<string, string>> = { ...addresses(DRILL_SLUG), key: secret };
      return text
        .replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
        .replaceAll(/(?<=`)vivarium [^`]*|^vivarium .*/g, ownCommand);
    },
  };
}

async function makeDomain({ zones, domains, certificates }: Services, projectId: string): Promise<string> {
  await zones.create({ name: DRILL_ZONE, supportsAlias: true }, CALL);
  const { steps = [] } = await domains.attach({ projectId, hostname: DRILL_DOMAIN, local: true }, CALL);
  const failed = steps.find(({ ok }) => !ok);
  if (failed !== undefined) throw conflict(`${DRILL_DOMAIN}: ${failed.message}`);
  return (await certificates.get({ hostname: DRILL_DOMAIN }, CALL)).serial;
}

async function createProblem(
  { projects, keys, records }: Services,
  breaks: Pick<Breaks, 'start'>,
  problem: DrillProblem,
  { projectId, hostname, keyId }: PracticeGround,
): Promise<void> {
  switch (problem.kind) {
    case 'break': {
      const { entry, at, method, nth = 1, parameters = {} } = problem;
      await breaks.start({
        entry,
        on: {
          hostname: at === 'domain' ? DRILL_DOMAIN : hostname,
          ...(method !== undefined && { method }),
        },
        ...{ rate: 1, nth, seed: 0, parameters: { ...parameters } },
        // The break also ends with the drill.
        forMs: BREAK_FOR_MS_MAX,
        isHidden: true,
      });
      return;
    }
    case 'limits': {
      const { perMinute, perDay } = problem;
      await projects.update({ projectId, plan: 'enterprise', limits: { perMinute, perDay } }, CALL);
      return;
    }
    case 'revoked key':
      await keys.revoke({ keyId }, CALL);
      return;
    case 'dead target':
      await projects.update({ projectId, target: { kind: 'upstream', url: DEAD_TARGET } }, CALL);
      return;
    case 'unattached': {
      const name = problem.hostname.slice(0, -`.${DRILL_ZONE}`.length);
      const record = { type: 'CNAME', name, value: CNAME_TARGET, ttl: 3_600 } as const;
      await records.put({ zone: DRILL_ZONE, ...record, force: false }, CALL);
    }
  }
}

async function requestsOf({ traffic }: Services, projectId: string): Promise<SeenRequest[]> {
  const { items } = await traffic.list({ projectId, limit: TRAFFIC_LIST_MAX }, CALL);
  const refused = items.filter(({ status }) => status === 429).slice(0, REFUSALS_MAX);
  const waits = new Map<string, string>();
  for (const { id } of refused) {
    const { responseHeaders } = await traffic.get({ id }, CALL);
    const field = [...responseHeaders].find(({ name }) => name.toLowerCase() === 'retry-after');
    if (field !== undefined) waits.set(id, field.value);
  }
  return [...items].reverse().map((entry) => seen(entry, waits.get(entry.id) ?? null));
}

/** Both null if the hostname is not attached. */
async function verified(
  { domains, certificates }: Services,
  hostname: string,
): Promise<Pick<FixFacts, 'domain' | 'certificate'>> {
  const attached = await domains.list(undefined, CALL);
  if (![...attached].some((each) => each.hostname === hostname)) return { domain: null, certificate: null };
  const domain = await domains.verify({ hostname }, CALL);
  const hasLeaf = domain.certificate.state === 'issued';
  return { domain, certificate: hasLeaf ? await certificates.get({ hostname }, CALL) : null };
}

const blockedBy = (why: string, fix: string): VivariumError => conflict(`The drill can’t start: ${why}. ${fix}.`);

const seen = (entry: TrafficEntry, retryAfter: string | null): SeenRequest => ({
  atMs: Date.parse(entry.at),
  realAtMs: Date.parse(entry.realAt),
  caller: entry.keyId ?? entry.address,
  keyId: entry.keyId ?? null,
  method: entry.method,
  isHttp2: entry.httpVersion.startsWith('2'),
  status: entry.status,
  retryAfter,
  durationMs: entry.durationMs,
  isAborted: entry.aborted,
  isHit: entry.fault?.entry === DRILL_ENTRY,
});
