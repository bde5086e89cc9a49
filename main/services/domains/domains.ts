import type { Domain } from '../../contract/domains.ts';
import { mapInTurns } from '../../base/turns.ts';
import { VivariumError } from '../../contract/errors.ts';
import { isWildcard } from '../../contract/wildcards.ts';
import type { Services } from '../../contract/index.ts';
import type { Project } from '../../contract/projects.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { evaluateRedirects, HTTPS_PREFIX } from '../../domains/redirects.ts';
import { configurationOf, type ConfiguredLifecycle, planConfiguration } from './domain-configuration.ts';
import type { Effects, ProjectRow, ProjectRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';
import { createLocalAttachment, type LocalAttachment } from './local-attachment.ts';
import { existingProject } from '../projects/projects.ts';

/** Domains presented before yielding to other work: about a millisecond. */
const DOMAINS_PER_TURN = 150;

export function createDomainServices(options: {
  projects: ProjectRows;
  lifecycle: ConfiguredLifecycle & Pick<Lifecycle, 'get' | 'verify' | 'remove'>;
  effects: Effects;
  /** Adds what the domain itself lacks: instructions from its zone and project, and whether it is primary. */
  present: (domain: AttachedDomain, project: ProjectRow | null) => Domain;
  presentProject: (row: ProjectRow) => Project;
  /** Ends the breaks of a hostname that is no longer attached. */
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
