import type { PersonaId } from '../contract/provider-table.ts';
import { DOMAIN_PLANS, factsOf, type Plan } from '../contract/plans.ts';
import { mention } from '../contract/calls.ts';
import { rivalOf } from './personas/claims.ts';
import { PERSONAS, wordsFor } from './personas/personas.ts';
import { evaluateHostname, type HostnameRefusal } from './hostname-rules.ts';
import type { DomainKind } from './public-suffix.ts';

/** Why a hostname was not attached. `rule` distinguishes reasons that share a code. */
export type AttachRefusal =
  | HostnameRefusal
  | {
      code: 'in_use' | 'plan_required' | 'deploy_required';
      rule: 'same_project' | 'other_project' | 'other_above' | 'plan' | 'deploy';
      message: string;
      fix: string;
    };

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

export interface AttachFacts {
  project: DomainProject;
  /** The project that a hostname (in normal form) is attached to, also while suspended; null when there is none. */
  holderOf(hostname: string): { id: string; name: string } | null;
  /** Whether another project is of the same account, whose names are its own; false by default. */
  sharesAccount?(projectId: string): boolean;
}

/** All, or only those about the hostname: the emulated APIs of providers know no plans and no deploys. */
export type AttachRules = 'all' | 'hostname';

export type AttachVerdict =
  | { ok: true; hostname: string; kind: DomainKind; apex: string }
  | { ok: false; refusal: AttachRefusal };

/**
 * Whether a project may attach a hostname. Checks the hostname (invalid, reserved, in use) before the project (plan,
 * deploy), to spare users an upgrade for a name they cannot attach.
 */
export function evaluateAttach(text: string, facts: AttachFacts, rules: AttachRules = 'all'): AttachVerdict {
  const verdict = evaluateHostname(text);
  if (!verdict.ok) return verdict;
  const refusal = useRefusal(verdict.hostname, facts) ?? (rules === 'all' ? projectRefusal(facts) : null);
  return refusal === null ? verdict : { ok: false, refusal };
}

function useRefusal(
  hostname: string,
  { project, holderOf, sharesAccount = () => false }: AttachFacts,
): AttachRefusal | null {
  const { claim, name, words } = PERSONAS[project.persona];
  const said = words.inUse === undefined ? '' : `${name}: “${wordsFor(words.inUse, hostname)}” `;
  const holder = holderOf(hostname);
  if (holder === null) {
    const foreignHolder: typeof holderOf = (name) => {
      const above = holderOf(name);
      return above !== null && sharesAccount(above.id) ? null : above;
    };
    const rival = claim === 'unique' ? rivalOf(hostname, project.id, foreignHolder) : null;
    if (rival === null) return null;
    return {
      code: 'in_use',
      rule: 'other_above',
      message: `${said}"${rival.domain}" is attached to the project "${rival.project}", and ${name} keeps the names below it for that project.`,
      fix: `Attach "${hostname}" to "${rival.project}", or remove "${rival.domain}" from it first.`,
    };
  }
  if (holder.id === project.id) {
    return {
      code: 'in_use',
      rule: 'same_project',
      message: `"${hostname}" is already attached to this project.`,
      fix: 'Re-verify it to check it again, or remove it first to start over.',
    };
  }
  return {
    code: 'in_use',
    rule: 'other_project',
    message: `${said}"${hostname}" is attached to the project "${holder.name}". A hostname can belong to one project only.`,
    fix: `Remove it from "${holder.name}" first, or attach another hostname.`,
  };
}

function projectRefusal({ project }: AttachFacts): AttachRefusal | null {
  const { title, domains } = factsOf(project.plan);
  if (!domains) {
    return {
      code: 'plan_required',
      rule: 'plan',
      message: `The project "${project.name}" is on the ${title} plan, which has no custom domains.`,
      fix: `Change the project’s plan to ${DOMAIN_PLANS.titles}: ${mention('projects.update', { projectId: project.slug, plan: 'pro' })}.`,
    };
  }
  if (!project.deployed) {
    return {
      code: 'deploy_required',
      rule: 'deploy',
      message: `The project "${project.name}" has no successful deploy, so a domain would have nothing to serve.`,
      fix: `Deploy the project, then attach the domain: ${mention('deploys.create', { projectId: project.slug })}.`,
    };
  }
  return null;
}
