import type { Clock, EpochMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { randomBase62 } from '../base/secret.ts';
import { DOMAIN_PLANS } from '../contract/plans.ts';
import { conflict, notFound, VivariumError } from '../contract/errors.ts';
import { type AttachRules, type DomainProject, evaluateAttach, type AttachVerdict } from './attach-rules.ts';
import { NO_CERTIFICATE, ATTACHED, isServed, RECHECK_INTERVAL_MS } from './hostname-machine.ts';
import { claimOf, type DomainRules, rivalOf } from './personas/claims.ts';
import { createDomainSet } from './domain-set.ts';
import type { DomainRows, DomainSet, DomainTransition, AttachedDomain } from './domain-set.ts';
import type { Leaf } from '../model/leaf.ts';
import { evaluateHostname } from './hostname-rules.ts';
import { PERSONAS, nextTry } from './personas/personas.ts';
import { createReverification, createAdjustments } from './suspend.ts';
import { createDomainWork } from './schedule.ts';
import { createVerifier, type RuledDomain, type Verifier, type VerifierOptions } from './checks/verify.ts';

/** The maximum number of domains over all projects; memory and the route table are sized for it. */
export const DOMAINS_MAX = 20_000;

export interface LifecycleOptions extends Omit<VerifierOptions, 'now' | 'domains' | 'rules'> {
  clock: Pick<Clock, 'now' | 'at' | 'every'>;
  log: Log;
  rows: DomainRows;
  project: (projectId: string) => DomainProject | null;
  /** Whether two projects are of one account of a provider, which does not contest its own names; false by default. */
  shareAccount?: (projectId: string, otherId: string) => boolean;
  /** The target of the CNAMEs of all projects. */
  cnameTarget: string;
  /** The target of one project's CNAMEs, by its slug. */
  ownTarget: (slug: string) => string;
  /** Publishes the served domains; in force when it returns. */
  publish: () => void;
  /** Called before `publish` when a hostname is released, to remove everything in its project that leads to it. */
  onRemoved: (domain: AttachedDomain) => void;
  onChanged: (what: 'domain' | 'certificate', domain: AttachedDomain) => void;
}

type RuledProject = Pick<DomainProject, 'id' | 'name' | 'slug' | 'persona'>;

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** The effects around the two state machines: attached domains and their changes over time. */
export function createLifecycle(options: LifecycleOptions) {
  const { clock, log } = options;
  const domains = createDomainSet({ rows: options.rows, onCommitted, isAwaitingMore: () => verifier.isIssuing() });
  const { rules, evaluate, firstCheckMs } = createProjectRules(options, domains);
  const verifier: Verifier = createVerifier({ ...options, now: () => clock.now(), domains, rules });
  const existing = (text: string): AttachedDomain => existingIn(domains, text);
  const { schedule, inTurn } = createDomainWork({ clock, log, domains, verifier, existing });
  let started = false;
  const { planChanged, personaChanged, clockAdjusted, resume } = createAdjustments({ ...options, domains });
  const again = createReverification(options, { domains, verifier, inTurn, isStarted: () => started });

  function onCommitted(changes: readonly DomainTransition[]): void {
    if (changes.some(({ before, after }) => isServed(before) !== isServed(after))) options.publish();
    for (const { before, after } of changes) {
      options.onChanged('domain', after);
      if (before.certificate !== after.certificate) options.onChanged('certificate', after);
    }
    if (started) schedule.arm();
  }

  return {
    /** Whether the project may attach a hostname now. @throws VivariumError not_found for an unknown project. */
    evaluate,
    /** The requirements of the project's persona for a domain; `project` if the caller has it already. */
    rules,
    /** @throws VivariumError with the code of the first broken rule. */
    attach(projectId: string, text: string, rules: AttachRules = 'all'): AttachedDomain {
      const verdict = evaluate(projectId, text, rules);
      if (!verdict.ok) throw refusalOf(verdict.refusal);
      if (domains.size >= DOMAINS_MAX) throw conflict(`There are ${DOMAINS_MAX} domains already; remove one first.`);
      const atMs = clock.now();
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
    /** @throws VivariumError not_found; accepts the hostname in any form. */
    get: existing,
    /** Null for an unattached hostname; expects normal form. */
    find: (hostname: string): AttachedDomain | null => domains.get(hostname),
    /** Expects normal form. */
    isAttached: (hostname: string): boolean => domains.get(hostname) !== null,
    /** Checks the domain now; the result includes its certificate unless there is an issuance delay. */
    verify: (text: string) => inTurn(text, (domain) => verifier.verify(domain, true)),
    /** The checks of a hostname in normal form as of now, attached or not, without claims; nothing is kept. */
    look: (projectId: string, hostname: string) => verifier.preview(projectId, hostname),
    /** Issues a new certificate. @throws VivariumError conflict with the reason if it cannot. */
    async renew(text: string): Promise<AttachedDomain> {
      const unable = unableToRenew(existing(text));
      if (unable !== null) throw unable;
      const domain = await inTurn(text, (before) => verifier.renew(before));
      const { state, refusal } = domain.certificate;
      if (state === 'issued' && refusal === null) return domain;
      throw notIssued(domain, refusal?.message ?? 'It was suspended meanwhile.');
    },
    /** The domain is no longer served when this returns. */
    remove(text: string): AttachedDomain {
      const domain = existing(text);
      domains.remove(domain);
      options.onRemoved(domain);
      options.publish();
      options.onChanged('domain', domain);
      if (domain.certificate.state !== 'none') options.onChanged('certificate', domain);
      if (started) schedule.arm();
      return domain;
    },
    leaf: (hostname: string): Leaf | null => domains.leaf(hostname),
    /** Replaces a leaf without a new decision, for example when its wire dates run out while the clock is frozen. */
    keepLeaf(hostname: string, leaf: Leaf): void {
      const domain = domains.get(hostname);
      if (domain === null) return;
      domains.put({ ...domain }, leaf);
      domains.commit().catch((error: unknown) => log.error('A leaf could not be stored', { hostname, error }));
    },
    /** Call after a project has been removed from the store. */
    projectRemoved(projectId: string): void {
      for (const domain of domains.forget(projectId)) {
        options.onChanged('domain', domain);
        options.onChanged('certificate', domain);
      }
      if (started) schedule.arm();
    },
    ...again,
    ...{ planChanged, personaChanged, clockAdjusted },
    /** Call when all domains were replaced in the store; work in progress for the old ones has no effect. */
    reload(): void {
      domains.reload();
      if (started) schedule.arm();
    },
    start(): void {
      started = true;
      resume();
      schedule.arm();
    },
    stop(): void {
      started = false;
      schedule.stop();
    },
  };
}

function refusalOf({ code, message, fix }: Extract<AttachVerdict, { ok: false }>['refusal']): VivariumError {
  const told = `${message} ${fix}`;
  return new VivariumError(code, told, { issues: [{ path: 'hostname', message: told }] });
}

/** What the project of a domain decides: its persona, and whether it may attach. */
function createProjectRules(
  options: Pick<LifecycleOptions, 'project' | 'shareAccount' | 'cnameTarget' | 'ownTarget'>,
  domains: Pick<DomainSet, 'get'>,
) {
  const { project, shareAccount = () => false, ...targets } = options;
  function rules(
    { hostname, projectId, verifiedAtMs }: RuledDomain,
    found: RuledProject | null = project(projectId),
  ): DomainRules {
    const owner = found ?? { id: projectId, name: projectId, slug: projectId, persona: 'animal-store' };
    const persona = PERSONAS[owner.persona];
    const cnameTarget = persona.target === 'shared' ? targets.cnameTarget : targets.ownTarget(owner.slug);
    const rival = rivalOf(hostname, projectId, (name) => {
      const holder = holderOf(name);
      return holder !== null && shareAccount(holder.id, projectId) ? null : holder;
    });
    const facts = { hostname, project: owner, verifiedBefore: verifiedAtMs !== null, rival };
    return { persona, cnameTarget, claim: claimOf(persona, facts) };
  }

  function holderOf(hostname: string): { id: string; name: string } | null {
    const holder = domains.get(hostname);
    return holder === null ? null : { id: holder.projectId, name: project(holder.projectId)?.name ?? holder.projectId };
  }

  function evaluate(projectId: string, text: string, rules?: AttachRules): AttachVerdict {
    const facts = project(projectId);
    if (facts === null) throw noProject(projectId);
    const sharesAccount = (otherId: string): boolean => shareAccount(otherId, projectId);
    return evaluateAttach(text, { project: facts, holderOf, sharesAccount }, rules);
  }

  function firstCheckMs(projectId: string, atMs: EpochMs): EpochMs {
    const { checks } = PERSONAS[project(projectId)?.persona ?? 'animal-store'];
    return (checks === null ? null : nextTry(checks, atMs, atMs)) ?? atMs + RECHECK_INTERVAL_MS;
  }

  return { rules, evaluate, firstCheckMs };
}

/** @throws VivariumError not_found */
function existingIn(domains: Pick<DomainSet, 'get'>, text: string): AttachedDomain {
  const verdict = evaluateHostname(text);
  const domain = domains.get(verdict.ok ? verdict.hostname : text);
  if (domain !== null) return domain;
  throw notFound(
    `There is no domain "${verdict.ok ? verdict.hostname : text.slice(0, 100)}". List them: \`domains.list\`.`,
  );
}

function unableToRenew(domain: AttachedDomain): VivariumError | null {
  if (domain.state === 'verified') return null;
  if (domain.state === 'suspended') {
    return notIssued(domain, `the domain is suspended. Change the plan of its project to ${DOMAIN_PLANS.titles}.`);
  }
  const wrong = domain.checks.find(({ outcome }) => outcome === 'failed')?.message ?? 'Verify it first.';
  return notIssued(domain, `the domain is ${domain.state}. ${wrong}`);
}

const notIssued = ({ hostname }: AttachedDomain, why: string): VivariumError =>
  conflict(`No certificate was issued for ${hostname}: ${why}`);

const noProject = (projectId: string): VivariumError =>
  notFound(`No project "${projectId}". List them: \`projects.list\`.`);
