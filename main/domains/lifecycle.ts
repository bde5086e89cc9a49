import type { Clock, ClockAdjustment, EpochMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { randomBase62 } from '../base/secret.ts';
import { nextTurn } from '../base/turns.ts';
import type { CheckCode } from '../contract/check-codes.ts';
import type { PersonaId } from '../contract/personas.ts';
import { DOMAIN_PLANS, type Plan } from '../contract/plans.ts';
import { VivariumError } from '../contract/errors.ts';
import { evaluateAttach, type AttachVerdict } from './attach-rules.ts';
import { NO_CERTIFICATE } from './certificate-machine.ts';
import { claimOf, type DomainRules, rivalOf } from './personas/claims.ts';
import { createDomainSet, type DomainRows, type DomainTransition, type AttachedDomain } from './domain-set.ts';
import { LEAF_LIFETIME_MS, type Leaf } from '../model/leaf.ts';
import { ATTACHED, isServed, RECHECK_INTERVAL_MS } from './hostname-machine.ts';
import { evaluateHostname } from './hostname-rules.ts';
import { type CertificateIssuer, gateChecks } from './issue.ts';
import { PERSONAS, nextTry } from './personas/personas.ts';
import { createSchedule, isCheckDue, createHostnameTurns } from './schedule.ts';
import { afterClockWentBack, underPlan } from './suspend.ts';
import { createVerifier, type RuledDomain, type Verifier, type VerifierOptions } from './checks/verify.ts';

/** The maximum number of domains over all projects; memory and the route table are sized for it. */
export const DOMAINS_MAX = 20_000;

/** The delay of due work after an internal or store failure, to avoid a tight loop. */
const FAULT_RETRY_MS = 5 * 60_000;

/** The part of a project that attach rules need. */
export interface DomainProject {
  id: string;
  name: string;
  slug: string;
  plan: Plan;
  persona: PersonaId;
  /** Whether any deploy has succeeded. */
  deployed: boolean;
}

export interface LifecycleOptions extends Omit<VerifierOptions, 'now' | 'domains' | 'rules'> {
  clock: Pick<Clock, 'now' | 'at' | 'every'>;
  log: Log;
  rows: DomainRows;
  project: (projectId: string) => DomainProject | null;
  /** The target of the CNAMEs of all projects. */
  cnameTarget: string;
  /** The target of one project's CNAMEs, by its slug. */
  ownTarget: (slug: string) => string;
  /** Publishes the served domains; in force when it returns. */
  publish: () => void;
  /** Called before `publish` when a hostname is released, to remove everything in its project that leads to it. */
  onRemoved: (domain: AttachedDomain) => void;
  /** Called when a domain or its certificate has changed. */
  onChanged: (what: 'domain' | 'certificate', domain: AttachedDomain) => void;
}

export interface Lifecycle {
  /** Whether the project may attach a hostname now. @throws VivariumError not_found for an unknown project. */
  evaluate(projectId: string, hostname: string): AttachVerdict;
  /** @throws VivariumError with the code of the first broken rule. */
  attach(projectId: string, hostname: string): AttachedDomain;
  /** The requirements of the project's persona for a domain; `project` if the caller has it already. */
  rules(domain: RuledDomain, project?: RuledProject | null): DomainRules;
  list(): AttachedDomain[];
  /** @throws VivariumError not_found; accepts the hostname in any form. */
  get(hostname: string): AttachedDomain;
  /** Null for an unattached hostname; expects normal form. */
  find(hostname: string): AttachedDomain | null;
  /** Expects normal form. */
  isAttached(hostname: string): boolean;
  /** Checks the domain now; the result includes its certificate unless there is an issuance delay. */
  verify(hostname: string): Promise<AttachedDomain>;
  /** Issues a new certificate. @throws VivariumError conflict with the reason if it cannot. */
  renew(hostname: string): Promise<AttachedDomain>;
  /** The domain is no longer served when this returns. */
  remove(hostname: string): AttachedDomain;
  leaf(hostname: string): Leaf | null;
  /** Replaces a leaf without a new decision, for example when its wire dates run out while the clock is frozen. */
  keepLeaf(hostname: string, leaf: Leaf): void;
  /** Call after a project's plan has changed; in force and published when it returns. */
  planChanged(projectId: string): void;
  /**
   * Call after a project's persona has changed: checks its domains immediately by the new one, and starts its rhythm
   * for those that are not verified.
   */
  personaChanged(projectId: string): void;
  /** Call after a project has been removed from the store. */
  projectRemoved(projectId: string): void;
  /** Call after the root was extended; domains waiting for that have their certificates when this resolves. */
  issuerExtended(): Promise<void>;
  /** Call when answers of the local DNS may have changed; verifies domains again that CAA refused and now permits. */
  recordsChanged(): Promise<void>;
  /** Call after the resolver or the CA's identity changed; verifies domains without an answer or refused by CAA. */
  lookupsChanged(): Promise<void>;
  clockAdjusted(change: Pick<ClockAdjustment, 'backward' | 'isReset'>): void;
  /** Call when all domains were replaced in the store; work in progress for the old ones has no effect. */
  reload(): void;
  /**
   * Issues leaves for domains whose certificates have none, because another root signed those: with the same dates on
   * the app's clock if the root permits the name, otherwise as for a new domain.
   */
  issueMissing(): Promise<void>;
  /** Starts the schedule. */
  start(): void;
  stop(): void;
}

type RuledProject = Pick<DomainProject, 'id' | 'name' | 'slug' | 'persona'>;

/** The effects around the two state machines: attached domains and their changes over time. */
export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { clock, log, project } = options;
  const now = () => clock.now();
  const domains = createDomainSet({ rows: options.rows, onCommitted, isAwaitingMore: () => verifier.isIssuing() });
  const projectName = (projectId: string): string => project(projectId)?.name ?? projectId;
  const verifier: Verifier = createVerifier({ ...options, now, domains, rules });
  const turns = createHostnameTurns();
  const schedule = createSchedule({ clock, domains, run: runDue });
  let started = false;
  let recordsAt: 'rest' | 'looking' | 'changed' = 'rest';

  function rules(
    { hostname, projectId, verifiedAtMs }: RuledDomain,
    found: RuledProject | null = project(projectId),
  ): DomainRules {
    const owner = found ?? { id: projectId, name: projectId, slug: projectId, persona: 'animal-store' };
    const persona = PERSONAS[owner.persona];
    const cnameTarget = persona.target === 'shared' ? options.cnameTarget : options.ownTarget(owner.slug);
    const rival = rivalOf(hostname, projectId, holderOf);
    const facts = { hostname, project: owner, verifiedBefore: verifiedAtMs !== null, rival };
    return { persona, cnameTarget, claim: claimOf(persona, facts) };
  }

  function holderOf(hostname: string): { id: string; name: string } | null {
    const holder = domains.get(hostname);
    return holder === null ? null : { id: holder.projectId, name: projectName(holder.projectId) };
  }

  function onCommitted(changes: readonly DomainTransition[]): void {
    if (changes.some(({ before, after }) => isServed(before) !== isServed(after))) options.publish();
    for (const { before, after } of changes) {
      options.onChanged('domain', after);
      if (before.certificate !== after.certificate) options.onChanged('certificate', after);
    }
    if (started) schedule.arm();
  }

  /** @throws VivariumError not_found */
  function existing(text: string): AttachedDomain {
    const verdict = evaluateHostname(text);
    const domain = domains.get(verdict.ok ? verdict.hostname : text);
    if (domain !== null) return domain;
    throw new VivariumError(
      'not_found',
      `There is no domain "${verdict.ok ? verdict.hostname : text.slice(0, 100)}". List them: \`domains.list\`.`,
    );
  }

  async function runDue(domain: AttachedDomain): Promise<void> {
    try {
      await turns.run(domain.hostname, async () => {
        const before = domains.current(domain);
        if (before === null) return;
        if (isCheckDue(before, now())) await verifier.verify(before, false);
        await verifier.certificateDue(before);
        await domains.commit();
      });
    } catch (error) {
      postpone(domain, error);
    }
  }

  function postpone(domain: AttachedDomain, error: unknown): void {
    const then = domains.current(domain);
    if (then === null) return;
    log.error('Scheduled work for a domain failed and will be retried', { hostname: domain.hostname, error });
    const atMs = now() + FAULT_RETRY_MS;
    const { nextAttemptAtMs } = then.certificate;
    domains.put({
      ...then,
      nextCheckAtMs: then.nextCheckAtMs === null ? null : Math.max(then.nextCheckAtMs, atMs),
      certificate: {
        ...then.certificate,
        nextAttemptAtMs: nextAttemptAtMs === null ? null : Math.max(nextAttemptAtMs, atMs),
      },
    });
  }

  /** Runs work in the domain's turn and returns the stored result. */
  function inTurn(text: string, work: (domain: AttachedDomain) => Promise<void>): Promise<AttachedDomain> {
    const asked = existing(text);
    return turns.run(asked.hostname, async () => {
      const domain = existing(asked.hostname);
      await work(domain);
      await domains.commit();
      return existing(asked.hostname);
    });
  }

  async function verifyAgain({ hostname }: AttachedDomain, isDue = (_: AttachedDomain) => Promise.resolve(true)) {
    try {
      await inTurn(hostname, async (domain) => {
        if (await isDue(domain)) await verifier.verify(domain, true);
      });
    } catch (error) {
      log.error('A domain could not be verified again; re-verify it', { hostname, error });
    }
  }

  async function isPermitted(domain: AttachedDomain): Promise<boolean> {
    if (!waitsForCaa(domain)) return false;
    const [gate] = await gateChecks(options.dns, domain.hostname, options.settings().identity);
    return gate.outcome === 'ok';
  }

  async function recordsChanged(): Promise<void> {
    const isLooking = recordsAt !== 'rest';
    recordsAt = 'changed';
    if (isLooking) return;
    while (started && recordsAt === 'changed') {
      recordsAt = 'looking';
      await Promise.all(
        domains
          .list()
          .filter(waitsForCaa)
          .map((domain) => verifyAgain(domain, isPermitted)),
      );
    }
    recordsAt = 'rest';
  }

  function putAll(change: (domain: AttachedDomain) => AttachedDomain): void {
    for (const domain of domains.list()) {
      const changed = change(domain);
      if (changed !== domain) domains.put(changed);
    }
    domains.commitNow();
  }

  function evaluate(projectId: string, text: string): AttachVerdict {
    const facts = project(projectId);
    if (facts === null) throw noProject(projectId);
    return evaluateAttach(text, { project: facts, holderOf });
  }

  function firstCheckMs(projectId: string, atMs: EpochMs): EpochMs {
    const { checks } = PERSONAS[project(projectId)?.persona ?? 'animal-store'];
    return (checks === null ? null : nextTry(checks, atMs, atMs)) ?? atMs + RECHECK_INTERVAL_MS;
  }

  return {
    evaluate,
    rules,
    attach(projectId, text) {
      const verdict = evaluate(projectId, text);
      if (!verdict.ok) {
        const { code, message, fix } = verdict.refusal;
        const told = `${message} ${fix}`;
        throw new VivariumError(code, told, { issues: [{ path: 'hostname', message: told }] });
      }
      if (domains.size >= DOMAINS_MAX) {
        throw new VivariumError('conflict', `There are ${DOMAINS_MAX} domains already; remove one first.`);
      }
      const atMs = now();
      const domain: AttachedDomain = {
        ...ATTACHED,
        id: `dom_${randomBase62(16)}`,
        hostname: verdict.hostname,
        projectId,
        kind: verdict.kind,
        attachedAtMs: atMs,
        lastCheckedAtMs: null,
        nextCheckAtMs: firstCheckMs(projectId, atMs),
        seriesAtMs: atMs,
        checks: [],
        certificateChecks: [],
        certificate: NO_CERTIFICATE,
      };
      domains.insert(domain);
      options.onChanged('domain', domain);
      if (started) schedule.add(domain);
      return domain;
    },
    list: () => domains.list(),
    get: existing,
    find: (hostname) => domains.get(hostname),
    isAttached: (hostname) => domains.get(hostname) !== null,
    verify: (text) => inTurn(text, (domain) => verifier.verify(domain, true)),
    async renew(text) {
      const unable = unableToRenew(existing(text));
      if (unable !== null) throw unable;
      const domain = await inTurn(text, (before) => verifier.renew(before));
      const { state, refusal } = domain.certificate;
      if (state === 'issued' && refusal === null) return domain;
      throw notIssued(domain, refusal?.message ?? 'It was suspended meanwhile.');
    },
    remove(text) {
      const domain = existing(text);
      domains.remove(domain);
      options.onRemoved(domain);
      options.publish();
      options.onChanged('domain', domain);
      if (domain.certificate.state !== 'none') options.onChanged('certificate', domain);
      if (started) schedule.arm();
      return domain;
    },
    leaf: (hostname) => domains.leaf(hostname),
    keepLeaf(hostname, leaf) {
      const domain = domains.get(hostname);
      if (domain === null) return;
      domains.put({ ...domain }, leaf);
      domains.commit().catch((error: unknown) => log.error('A leaf could not be stored', { hostname, error }));
    },
    planChanged(projectId) {
      const facts = project(projectId);
      if (facts === null) return;
      putAll((domain) => (domain.projectId === projectId ? underPlan(domain, facts.plan, now()) : domain));
    },
    personaChanged(projectId) {
      const atMs = now();
      putAll((domain) =>
        domain.projectId !== projectId || domain.state === 'suspended'
          ? domain
          : { ...domain, nextCheckAtMs: atMs, seriesAtMs: domain.state === 'verified' ? null : atMs },
      );
    },
    projectRemoved(projectId) {
      for (const domain of domains.forget(projectId)) {
        options.onChanged('domain', domain);
        options.onChanged('certificate', domain);
      }
      if (started) schedule.arm();
    },
    async issuerExtended() {
      const waiting = domains.list().filter(waitsForIssuer);
      await Promise.all(
        waiting.filter(({ hostname }) => options.issuer.permits(hostname)).map((domain) => verifyAgain(domain)),
      );
    },
    recordsChanged,
    async lookupsChanged() {
      const unknown = domains.list().filter(isUnknown);
      await Promise.all([...unknown.map((domain) => verifyAgain(domain)), recordsChanged()]);
    },
    clockAdjusted({ backward, isReset }) {
      // When the clock returns from the past, attempts may have been given up although they were in time.
      if (!backward && !isReset) return;
      const { issuanceDelayMs } = options.settings();
      try {
        putAll((domain) => afterClockWentBack(domain, now(), issuanceDelayMs));
      } catch (error) {
        log.error('Domains could not be adjusted to the clock', { error });
      }
    },
    reload() {
      domains.reload();
      if (started) schedule.arm();
    },
    async issueMissing() {
      const isMissing = (domain: AttachedDomain) =>
        domain.certificate.state === 'issued' &&
        (domains.leaf(domain.hostname) === null || !options.issuer.permits(domain.hostname));
      const refused: AttachedDomain[] = [];
      for (const domain of domains.list().filter(isMissing)) {
        const leaf = issueAgain(domain, options.issuer);
        if (leaf === null) refused.push(domain);
        const [seriesAtMs, nextAttemptAtMs] = [now(), now()];
        const pending = { ...NO_CERTIFICATE, state: 'pending', seriesAtMs, nextAttemptAtMs } as const;
        domains.put({ ...domain, ...(leaf === null && { certificate: pending }) }, leaf);
        await nextTurn();
      }
      await domains.commit();
      await Promise.all(refused.map((domain) => verifyAgain(domain)));
    },
    start() {
      started = true;
      // Re-apply plan changes that failed to persist.
      putAll((domain) => {
        const plan = project(domain.projectId)?.plan;
        return plan === undefined ? domain : underPlan(domain, plan, now());
      });
      schedule.arm();
    },
    stop() {
      started = false;
      schedule.stop();
    },
  };
}

/** Whether the root's constraints refused the domain at its last attempt, given up or not. */
const waitsForIssuer = ({ state, certificateChecks }: AttachedDomain): boolean =>
  state === 'verified' && certificateChecks.some(({ code }) => code === 'suffix_not_permitted');

/** Whether the last check of the hostname got no answer. */
const isUnknown = ({ checks }: AttachedDomain): boolean => checks.some(({ outcome }) => outcome === 'unknown');

/** A leaf with the dates of the domain's certificate; null if the root cannot sign it. */
function issueAgain({ hostname, certificate }: AttachedDomain, issuer: CertificateIssuer): Leaf | null {
  const { notAfterMs } = certificate;
  if (notAfterMs === null || !issuer.permits(hostname)) return null;
  try {
    return { ...issuer.issue(hostname), notBeforeMs: notAfterMs - LEAF_LIFETIME_MS, notAfterMs };
  } catch (error) {
    if (error instanceof VivariumError) return null;
    throw error;
  }
}

const OF_CAA: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_on_target', 'caa_lookup_failed']);

/** Whether CAA refused the domain at its last attempt, or would refuse its renewal. */
const waitsForCaa = ({ state, certificateChecks }: AttachedDomain): boolean =>
  state === 'verified' &&
  certificateChecks.some(({ code, outcome }) => OF_CAA.has(code) && (outcome === 'failed' || outcome === 'unknown'));

function unableToRenew(domain: AttachedDomain): VivariumError | null {
  if (domain.state === 'verified') return null;
  if (domain.state === 'suspended') {
    return notIssued(domain, `the domain is suspended. Change the plan of its project to ${DOMAIN_PLANS.titles}.`);
  }
  const wrong = domain.checks.find(({ outcome }) => outcome === 'failed')?.message ?? 'Verify it first.';
  return notIssued(domain, `the domain is ${domain.state}. ${wrong}`);
}

const notIssued = ({ hostname }: AttachedDomain, why: string): VivariumError =>
  new VivariumError('conflict', `No certificate was issued for ${hostname}: ${why}`);

const noProject = (projectId: string): VivariumError =>
  new VivariumError('not_found', `No project "${projectId}". List them: \`projects.list\`.`);
