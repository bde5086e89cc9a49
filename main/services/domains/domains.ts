import { mapInTurns } from '../../base/turns.ts';
import type { Domain, DomainConfiguration, DomainConfigurationInput } from '../../contract/domains.ts';
import { type ErrorCode, type InputIssue, VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { Project } from '../../contract/projects.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { evaluateRedirects, HTTPS_PREFIX } from '../../domains/redirects.ts';
import type { Effects, ProjectRow, ProjectRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';
import { existingProject } from '../projects/projects.ts';
import { createLocalAttachment, type LocalAttachment } from './local-attachment.ts';

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
  local: Pick<LocalAttachment, 'zones' | 'records' | 'deploys'>;
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
        throw new VivariumError('invalid_request', message, { issues: verdict.issues });
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

export type ConfiguredLifecycle = Pick<Lifecycle, 'list' | 'find' | 'evaluate' | 'attach'>;

/** A project's domains in the file format. */
export function configurationOf(row: ProjectRow, domains: readonly AttachedDomain[]): DomainConfiguration {
  const own = domains.filter(({ projectId }) => projectId === row.id);
  return { domains: own.map(({ hostname }) => hostname), primary: row.primary, redirects: row.redirects };
}

export interface ConfigurationPlan {
  attach: readonly string[];
  project: Partial<Pick<ProjectRow, 'primary' | 'redirects'>>;
}

/**
 * Computes the changes that apply a configuration, and checks all of it first, so an invalid one changes nothing.
 * @throws VivariumError with all problems as its issues, and the code of the first.
 */
export function planConfiguration(
  wanted: DomainConfigurationInput,
  facts: {
    projectId: string;
    lifecycle: ConfiguredLifecycle;
    others: readonly ProjectRow['redirects'][number][];
  },
): ConfigurationPlan {
  const { projectId, lifecycle, others } = facts;
  const wrong: (InputIssue & { code: ErrorCode })[] = [];
  const refuse = (code: ErrorCode, path: string, message: string) =>
    wrong.push({ code, path: `configuration.${path}`, message });

  const attach = new Set<string>();
  wanted.domains?.forEach((text, index) => {
    const hostname = normalForm(text);
    if (hostname !== null && lifecycle.find(hostname)?.projectId === projectId) return;
    const verdict = lifecycle.evaluate(projectId, text);
    if (verdict.ok) attach.add(verdict.hostname);
    else refuse(verdict.refusal.code, `domains[${index}]`, `${verdict.refusal.message} ${verdict.refusal.fix}`);
  });
  const holderOf = (hostname: string) => (attach.has(hostname) ? { projectId } : lifecycle.find(hostname));

  const project: { primary?: string | null; redirects?: ProjectRow['redirects'] } = {};
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
  const message = wrong.map((issue) => `${issue.path}: ${issue.message}`).join(' ');
  const issues = wrong.map((issue) => ({ path: issue.path, message: issue.message }));
  throw new VivariumError(first.code, message, { issues });
}

function normalForm(text: string): string | null {
  const verdict = evaluateHostname(text);
  return verdict.ok ? verdict.hostname : null;
}
