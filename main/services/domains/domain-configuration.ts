import { VivariumError, type ErrorCode, type InputIssue } from '../../contract/errors.ts';
import type { DomainConfiguration, DomainConfigurationInput } from '../../contract/domains.ts';
import { isWildcard } from '../../contract/wildcards.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { evaluateRedirects } from '../../domains/redirects.ts';
import type { ProjectRow } from '../dependencies.ts';

export type ConfiguredLifecycle = Pick<Lifecycle, 'list' | 'find' | 'evaluate' | 'attach'>;

/** A project's domains in the file format. */
export function configurationOf(row: ProjectRow, domains: readonly AttachedDomain[]): DomainConfiguration {
  const own = domains.filter(({ projectId }) => projectId === row.id);
  return { domains: own.map(({ hostname }) => hostname), primary: row.primary, redirects: row.redirects };
}

/** The changes that a configuration makes. */
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
    /** Redirects of the other projects. */
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
