import { mapInTurns } from '../../base/turns.ts';
import type { Domain, DomainConfiguration, DomainConfigurationInput } from '../../contract/domains.ts';
import { type ErrorCode, type InputIssue, invalidRequest, VivariumError } from '../../contract/errors.ts';
import type { Services, CallContext } from '../../contract/index.ts';
import type { Project } from '../../contract/projects.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { evaluateRedirects, HTTPS_PREFIX } from '../../domains/redirects.ts';
import type { Effects, ProjectRow, ProjectRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';
import { existingProject } from '../projects/projects.ts';
import { createLocalAttachment, type LocalAttachment, readLocalZone } from './local-attachment.ts';
import { shellWord } from '../../base/text/shell.ts';
import type { CheckCode } from '../../contract/check-codes.ts';
import { closestZone, nameWithin, planRecords, type RecordPlan } from '../../contract/record-plan.ts';
import type { ZoneInfo } from '../../contract/zones.ts';

/** Domains presented before yielding to other work: about a millisecond. */
const DOMAINS_PER_TURN = 150;

export function createDomainServices(options: {
  projects: ProjectRows;
  lifecycle: ConfiguredLifecycle & Pick<Lifecycle, 'get' | 'verify' | 'remove'>;
  effects: Effects;
  /** Adds what the domain itself lacks: instructions from its zone and project, and whether it is primary. */
  present: (domain: AttachedDomain, project: ProjectRow | null) => Domain;
  presentProject: (row: ProjectRow) => Project;
  endBreaks: (hostname: string) => Promise<NonNullable<Domain['breaks']>>;
  /** The services that `attach` with `local` uses. */
  local: Pick<LocalAttachment, 'zones' | 'records' | 'deploys' | 'ports'>;
}): Services['domains'] {
  const { projects, lifecycle, effects, present } = options;

  const show = (domain: AttachedDomain): Domain => present(domain, projects.get(domain.projectId));
  const attachLocally = createLocalAttachment({ ...options.local, lifecycle, show });

  function changed(projectId: string): Project {
    effects.publish();
    effects.emit('projects.changed', { projectId });
    effects.emit('domains.changed', { projectId });
    return options.presentProject(existingProject(projects, projectId));
  }

  return {
    attach: ({ projectId, hostname, local }, context) =>
      local ? attachLocally({ projectId, hostname }, context) : show(lifecycle.attach(projectId, hostname)),
    list(input) {
      const projectId = input?.projectId;
      if (projectId !== undefined) existingProject(projects, projectId);
      const rows = new Map(projects.list().map((row) => [row.id, row]));
      const wanted = lifecycle.list().filter((domain) => projectId === undefined || domain.projectId === projectId);
      return mapInTurns(wanted, DOMAINS_PER_TURN, (domain) => present(domain, rows.get(domain.projectId) ?? null));
    },
    get: ({ hostname }) => show(lifecycle.get(hostname)),
    verify: async ({ hostname }) => show(await lifecycle.verify(hostname)),
    async remove({ hostname }) {
      const { breaks: _running, ...shown } = show(lifecycle.get(hostname));
      lifecycle.remove(hostname);
      const ended = await options.endBreaks(shown.hostname);
      return ended.length === 0 ? shown : { ...shown, breaks: ended };
    },
    setPrimary({ projectId, hostname }) {
      existingProject(projects, projectId);
      projects.update(projectId, { primary: hostname === null ? null : ownHostname(projectId, hostname) });
      return changed(projectId);
    },
    setRedirects({ projectId, redirects }) {
      existingProject(projects, projectId);
      const facts = { projectId, others: redirectsOfOthers(projectId), holderOf: lifecycle.find };
      const verdict = evaluateRedirects(redirects, facts);
      if (!verdict.ok) {
        const message = verdict.issues.map((issue) => `${issue.path} ${issue.message}`).join('; ');
        throw invalidRequest(message, { issues: verdict.issues });
      }
      projects.update(projectId, { redirects: verdict.redirects });
      return changed(projectId);
    },
    export: ({ projectId }) => configurationOf(existingProject(projects, projectId), lifecycle.list()),
    import({ projectId, configuration }) {
      existingProject(projects, projectId);
      const others = redirectsOfOthers(projectId);
      const { attach, project } = planConfiguration(configuration, { projectId, lifecycle, others });
      for (const hostname of attach) lifecycle.attach(projectId, hostname);
      projects.update(projectId, project);
      changed(projectId);
      return configurationOf(existingProject(projects, projectId), lifecycle.list());
    },
  };

  function redirectsOfOthers(projectId: string): ProjectRow['redirects'] {
    return projects.list().flatMap((row) => (row.id === projectId ? [] : row.redirects));
  }

  function ownHostname(projectId: string, text: string): string {
    const verdict = evaluateHostname(text);
    const domain = verdict.ok ? lifecycle.find(verdict.hostname) : null;
    if (domain !== null && isWildcard(domain.hostname)) {
      throw inputError('hostname', 'must be one hostname, not a wildcard; attach one under it.');
    }
    if (domain !== null && domain.projectId === projectId) return domain.hostname;
    throw inputError('hostname', 'must be a domain of this project, or null for the platform’s own; attach it first.');
  }
}

/** Removes the hostname from the project's settings: primary and redirects. */
export function releaseHostname(projects: ProjectRows, { projectId, hostname }: AttachedDomain): boolean {
  const row = projects.get(projectId);
  if (row === null) return false;
  const redirects = row.redirects.filter(
    ({ from, to }) => from !== hostname && to.replace(HTTPS_PREFIX, '') !== hostname,
  );
  const primary = row.primary === hostname ? null : row.primary;
  if (redirects.length === row.redirects.length && primary === row.primary) return false;
  projects.update(projectId, { redirects, primary });
  return true;
}

/** Attached by one call, which nothing interrupts. */
const ATTACHED_MAX = 1_000;

type ConfiguredLifecycle = Pick<Lifecycle, 'list' | 'find' | 'evaluate' | 'attach'>;

/** A project's domains in the file format. */
function configurationOf(row: ProjectRow, domains: readonly AttachedDomain[]): DomainConfiguration {
  const own = domains.filter(({ projectId }) => projectId === row.id);
  return { domains: own.map(({ hostname }) => hostname), primary: row.primary, redirects: row.redirects };
}

/**
 * Computes the changes that apply a configuration, and checks all of it first, so an invalid one changes nothing.
 * @throws VivariumError with all problems as its issues, and the code of the first.
 */
function planConfiguration(
  wanted: DomainConfigurationInput,
  facts: {
    projectId: string;
    lifecycle: ConfiguredLifecycle;
    others: readonly ProjectRow['redirects'][number][];
  },
) {
  const { projectId, lifecycle, others } = facts;
  const wrong: Refused[] = [];
  const refuse = (code: ErrorCode, path: string, message: string, name = path) =>
    wrong.push({ code, path: `configuration.${path}`, message, name });

  const attach = new Set<string>();
  wanted.domains?.forEach((text, index) => {
    const hostname = normalForm(text);
    if (hostname !== null && lifecycle.find(hostname)?.projectId === projectId) return;
    const verdict = lifecycle.evaluate(projectId, text);
    if (verdict.ok) attach.add(verdict.hostname);
    else refuse(verdict.refusal.code, `domains[${index}]`, `${verdict.refusal.message} ${verdict.refusal.fix}`, text);
  });
  if (attach.size > ATTACHED_MAX) {
    const count = attach.size.toLocaleString('en');
    const message = `would attach ${count} hostnames; attach at most ${ATTACHED_MAX.toLocaleString('en')} at a time.`;
    refuse('invalid_request', 'domains', message);
  }
  const holderOf = (hostname: string) => (attach.has(hostname) ? { projectId } : lifecycle.find(hostname));

  const project: Partial<Pick<ProjectRow, 'primary' | 'redirects'>> = {};
  if (wanted.primary !== undefined) {
    project.primary = wanted.primary === null ? null : normalForm(wanted.primary);
    const { primary } = project;
    if (wanted.primary !== null && (isWildcard(primary ?? '') || holderOf(primary ?? '')?.projectId !== projectId)) {
      refuse('invalid_request', 'primary', 'must be one of the domains, no wildcard, or null for the platform’s own.');
    }
  }
  if (wanted.redirects !== undefined) {
    const verdict = evaluateRedirects(wanted.redirects, { projectId, others, holderOf });
    if (verdict.ok) project.redirects = verdict.redirects;
    else for (const { path, message } of verdict.issues) refuse('invalid_request', path, message);
  }

  const [first] = wrong;
  if (first === undefined) return { attach: [...attach], project };
  const issues = wrong.map(({ path, message }) => ({ path, message }));
  throw new VivariumError(first.code, summaryOf(wrong), { issues });
}

type Refused = InputIssue & { code: ErrorCode; name: string };

/** Limit on the sentences of a refusal, and on the names of one sentence. */
const LISTED_MAX = 5;

/** Each sentence once, with the first names that it is about. */
function summaryOf(wrong: readonly Refused[]): string {
  const sentences = [...Map.groupBy(wrong, ({ message }) => message)].map(([message, [first, ...others]]) => {
    const names = others.slice(0, LISTED_MAX).map(({ name }) => name);
    const more = others.length > LISTED_MAX ? ', …' : '';
    const same = others.length === 0 ? '' : ` The same for ${others.length} more: ${names.join(', ')}${more}.`;
    return `${first?.path}: ${message}${same}`;
  });
  const left = sentences.length - LISTED_MAX;
  return [...sentences.slice(0, LISTED_MAX), ...(left > 0 ? [`And ${left} more faults.`] : [])].join(' ');
}

function normalForm(text: string): string | null {
  const verdict = evaluateHostname(text);
  return verdict.ok ? verdict.hostname : null;
}

/** The services that know the records of Vivarium's own DNS, and the changes that would make CAA permit issuance. */
export type RepairServices = {
  zones: Pick<Services['zones'], 'list'>;
  records: Pick<Services['records'], 'list'>;
  caa: Pick<Services['caa'], 'explain'>;
};

const OF_CAA: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_on_target']);

/** Codes that the right record alone resolves. */
const OF_RECORD: ReadonlySet<CheckCode> = new Set([
  'no_record',
  'wrong_target',
  'stale_target',
  'cname_with_siblings',
  'a_conflict',
  'txt_missing',
]);

/**
 * Command lines that correct the records of a domain in Vivarium's own DNS, in order; none if its zone is elsewhere, or
 * if no record helps.
 */
export async function repairCommands(
  domain: Domain,
  services: RepairServices,
  context: CallContext,
): Promise<string[]> {
  const failed = domain.checks.filter(({ outcome }) => outcome === 'failed').map(({ code }) => code);
  const ofRecord = failed.some((code) => OF_RECORD.has(code)) ? await recordCommands(domain, services, context) : [];
  const ofCaa = failed.some((code) => OF_CAA.has(code)) ? await caaCommands(domain.hostname, services, context) : [];
  return [...ofRecord, ...ofCaa];
}

async function recordCommands(domain: Domain, services: RepairServices, context: CallContext): Promise<string[]> {
  return planRecords(domain, await readLocalZone(domain, services, context))
    .toReversed()
    .flatMap(commandsOf);
}

function commandsOf(plan: RecordPlan): string[] {
  if (plan.kind !== 'put' || plan.createsZone) return [];
  const { zone, record, replaced } = plan;
  const [last, ...others] = replaced.toReversed();
  const removals = others.toReversed().map(({ id }) => line('record', 'remove', id));
  const { name, type, value } = record;
  return last === undefined
    ? [line('record', 'put', zone, name, type, value)]
    : [
        ...removals,
        line('record', 'update', last.id, ...(last.type === type ? [] : ['--type', type]), '--value', value),
      ];
}

async function caaCommands(hostname: string, services: RepairServices, context: CallContext): Promise<string[]> {
  const { edits } = await services.caa.explain({ hostname, wildcard: false, method: 'http-01' }, context);
  const zones = (await services.zones.list({}, context)) as ZoneInfo[];
  const commands: string[] = [];
  for (const [index, { action, name, value }] of edits.entries()) {
    const before = edits[index - 1];
    // Included in the removal before it.
    if (action === 'add' && before?.action === 'remove' && before.name === name) continue;
    const zone = closestZone(name, zones)?.name;
    if (zone === undefined) return [];
    const relative = nameWithin(name, zone);
    if (action === 'add') {
      commands.push(line('record', 'put', zone, relative, 'CAA', value));
      continue;
    }
    const there = await services.records.list({ zone, name: relative }, context);
    const found = there.find((record) => record.type === 'CAA' && record.value === value);
    if (found === undefined) return [];
    const next = edits[index + 1];
    if (next?.action === 'add' && next.name === name) {
      commands.push(line('record', 'update', found.id, '--value', next.value));
    } else {
      commands.push(line('record', 'remove', found.id));
    }
  }
  return commands;
}

const line = (...words: readonly string[]): string =>
  ['vivarium', ...words.map((word) => shellWord(word, process.platform))].join(' ');
