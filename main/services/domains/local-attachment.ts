import { originOf, type Scheme } from '../../base/text/hostname.ts';
import { codesAbout, type CheckCode } from '../../contract/check-codes.ts';
import type { AttachedLocally, AttachStep, Check, Domain } from '../../contract/domains.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { CallContext, Services } from '../../contract/index.ts';
import { mention } from '../../contract/calls.ts';
import {
  closestZone,
  lineOf,
  type LocalZone,
  planRecord,
  recordNames,
  type RecordPlan,
} from '../../contract/record-plan.ts';
import type { ZoneInfo } from '../../contract/zones.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';

export interface LocalAttachment {
  lifecycle: Pick<Lifecycle, 'find' | 'evaluate' | 'attach' | 'verify'>;
  zones: Pick<Services['zones'], 'list' | 'create'>;
  records: Pick<Services['records'], 'list' | 'put'>;
  deploys: Pick<Services['deploys'], 'create'>;
  ports: () => Record<Scheme, number>;
  show: (domain: AttachedDomain) => Domain;
}

interface Asked {
  projectId: string;
  hostname: string;
}

/** The zone and records of a domain in Vivarium's own DNS. */
export async function readLocalZone(
  domain: Domain,
  { zones, records }: { zones: Pick<Services['zones'], 'list'>; records: Pick<Services['records'], 'list'> },
  context: CallContext,
): Promise<LocalZone> {
  const zone = closestZone(domain.hostname, (await zones.list({}, context)) as ZoneInfo[]);
  if (zone === null) return { zone, records: [] };
  const names = recordNames(domain, zone.name);
  const found = await Promise.all(names.map((name) => records.list({ zone: zone.name, name }, context)));
  return { zone, records: found.flat() };
}

/** Checks about the certificate rather than the hostname. */
const OF_CERTIFICATE: ReadonlySet<CheckCode> = new Set(codesAbout('certificate'));

/**
 * `domains.attach` with `local`: everything between a hostname and HTTPS on this machine. Stops at the first step that
 * fails, and keeps what succeeded; a repeated call continues there. A refusal to attach is thrown, and changes nothing.
 */
export function createLocalAttachment(options: LocalAttachment) {
  const { lifecycle, zones, records, show } = options;

  /** Attaches the hostname unless the project has it. */
  async function attach({ projectId, hostname }: Asked, context: CallContext): Promise<[AttachedDomain, AttachStep[]]> {
    const verdict = evaluateHostname(hostname);
    const held = verdict.ok ? lifecycle.find(verdict.hostname) : null;
    if (held?.projectId === projectId) return [held, []];
    const evaluated = lifecycle.evaluate(projectId, hostname);
    const needsDeploy = !evaluated.ok && evaluated.refusal.code === 'deploy_required';
    const steps = needsDeploy ? [await deploy(projectId, context)] : [];
    return [lifecycle.attach(projectId, hostname), steps];
  }

  async function deploy(projectId: string, context: CallContext): Promise<AttachStep> {
    const { status, reason } = await options.deploys.create({ projectId }, context);
    if (status === 'succeeded') return done('deploy', 'The target answers.');
    throw new VivariumError('deploy_required', `The project’s target does not answer. ${reason ?? ''}`.trimEnd());
  }

  /** Adds what is missing, one record after another. */
  async function putAll(domain: Domain, context: CallContext): Promise<AttachStep[]> {
    const steps: AttachStep[] = [];
    for (let index = 0; index < domain.instructions.length; index++) {
      const plan = planRecord(domain, await readLocalZone(domain, options, context));
      if (plan.kind === 'present' && index > 0) break;
      steps.push(...(await put(domain, plan, context)).filter(({ step }) => step !== 'zone' || index === 0));
      if (plan.kind !== 'put' || steps.some(({ ok }) => !ok)) break;
    }
    return steps;
  }

  /** Carries out a plan, but removes no record: only the page can show those in advance, and undo it. */
  async function put(domain: Domain, plan: RecordPlan, context: CallContext): Promise<AttachStep[]> {
    if (plan.kind === 'impossible') return [failed('record', plan.why)];
    const [instruction] = domain.instructions;
    if (plan.kind === 'present') {
      return [done('zone', plan.zone), done('record', instruction === undefined ? '' : lineOf(instruction))];
    }
    const { zone, createsZone, record, replaced } = plan;
    if (replaced.length > 0) {
      const removals = replaced.map(({ id }) => mention('records.remove', { id })).join(' ');
      const message = `In the way of ${lineOf(record)}: ${replaced.map(lineOf).join(', ')}.`;
      return [
        done('zone', zone),
        failed('record', message, `Remove ${replaced.length > 1 ? 'them' : 'it'}: ${removals}`),
      ];
    }
    const steps: AttachStep[] = [];
    try {
      if (createsZone) await zones.create({ name: zone, supportsAlias: true }, context);
      steps.push(
        createsZone
          ? { ...done('zone', `${zone}, created`), undo: mention('zones.remove', { name: zone }) }
          : done('zone', zone),
      );
      const { id } = await records.put({ zone, ...record, force: false }, context);
      const undo = createsZone ? {} : { undo: mention('records.remove', { id }) };
      return [...steps, { ...done('record', `${lineOf(record)}, added`), ...undo }];
    } catch (error) {
      if (!(error instanceof VivariumError)) throw error;
      return [...steps, failed(steps.length === 0 ? 'zone' : 'record', error.message)];
    }
  }

  return async (asked: Asked, context: CallContext): Promise<AttachedLocally> => {
    const [attached, before] = await attach(asked, context);
    const steps = [...before, ...(await putAll(show(attached), context))];
    const domain = steps.every(({ ok }) => ok) ? show(await lifecycle.verify(attached.hostname)) : show(attached);
    if (steps.every(({ ok }) => ok)) steps.push(...verdictOf(domain));
    const { http, https } = domain.serving;
    const scheme = https ? 'https' : 'http';
    const url = originOf(scheme, domain.example ?? domain.hostname, options.ports()[scheme]);
    return { ...domain, steps, ...(http && { url }) };
  };
}

const done = (step: AttachStep['step'], message: string): AttachStep => ({ step, ok: true, message });

const failed = (step: AttachStep['step'], message: string, fix?: string): AttachStep => ({
  step,
  ok: false,
  message,
  ...(fix !== undefined && { fix }),
});

/** The steps of a domain that has just been verified. */
function verdictOf({ hostname, state, certificate, checks }: Domain): AttachStep[] {
  const wrong = checks.filter(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const pending = checks.filter(({ code }) => code === 'issuance_pending');
  if (state !== 'verified') return [failing('verified', wrong[0] ?? checks[0], `${hostname} is ${state}.`)];
  const verified = done('verified', `${hostname} points to Vivarium`);
  if (certificate.state === 'issued' && certificate.notAfter !== undefined) {
    return [verified, done('certificate', `valid until ${certificate.notAfter.slice(0, 'yyyy-mm-dd'.length)}`)];
  }
  const cause = [...wrong, ...pending].find(({ code }) => OF_CERTIFICATE.has(code));
  return [verified, failing('certificate', cause, `The certificate is ${certificate.state}.`)];
}

const failing = (step: AttachStep['step'], check: Check | undefined, otherwise: string): AttachStep =>
  failed(step, check?.message ?? otherwise, check?.fix);
