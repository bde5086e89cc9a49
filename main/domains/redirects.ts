import { normalizeHostname } from '../base/hostname.ts';
import type { InputIssue } from '../contract/errors.ts';
import type { Project } from '../contract/projects.ts';

export type DomainRedirect = Project['redirects'][number];

export interface RedirectFacts {
  projectId: string;
  /** The project that a hostname is attached to; null when there is none. */
  holderOf(hostname: string): { projectId: string } | null;
  /** Redirects of other projects, which a loop can pass through. */
  others: readonly DomainRedirect[];
}

export type RedirectVerdict = { ok: true; redirects: DomainRedirect[] } | { ok: false; issues: readonly InputIssue[] };

/** Whether a project may have these redirects: each `from` attached to it and unique, `to` a hostname, and no loop. */
export function evaluateRedirects(wanted: readonly DomainRedirect[], facts: RedirectFacts): RedirectVerdict {
  const issues: InputIssue[] = [];
  const redirects: DomainRedirect[] = [];
  const next = new Map(facts.others.map(({ from, to }) => [from, to]));
  const taken = new Set<string>();
  wanted.forEach((redirect, index) => {
    const at = (field: 'from' | 'to'): string => `redirects[${index}].${field}`;
    const from = normalizeHostname(redirect.from);
    const to = normalizeHostname(redirect.to);
    if (!from.ok) issues.push({ path: at('from'), message: NOT_A_HOSTNAME });
    if (!to.ok) issues.push({ path: at('to'), message: NOT_A_HOSTNAME });
    if (!from.ok || !to.ok) return;
    const fault = sourceFault(from.hostname, facts, taken);
    if (fault !== null) issues.push({ path: at('from'), message: fault });
    taken.add(from.hostname);
    next.set(from.hostname, to.hostname);
    redirects.push({ from: from.hostname, to: to.hostname, status: redirect.status });
  });
  redirects.forEach(({ from }, index) => {
    const loop = loopFrom(from, next);
    if (loop !== null) {
      issues.push({
        path: `redirects[${index}].to`,
        message: `forms a loop: ${loop.join(' → ')}; remove one of these redirects.`,
      });
    }
  });
  return issues.length === 0 ? { ok: true, redirects } : { ok: false, issues };
}

const NOT_A_HOSTNAME = 'must be a bare hostname, such as "www.example.test", without scheme, port or path';

function sourceFault(
  hostname: string,
  { holderOf, projectId }: RedirectFacts,
  taken: ReadonlySet<string>,
): string | null {
  if (holderOf(hostname)?.projectId !== projectId) {
    return `must be a domain of this project; attach ${hostname} to it first`;
  }
  return taken.has(hostname) ? `${hostname} is redirected twice; leave one of them out` : null;
}

/** The names of a loop from `from` back to itself, or null. Ignores loops that `from` merely leads into. */
function loopFrom(from: string, next: ReadonlyMap<string, string>): string[] | null {
  const path = [from];
  const seen = new Set(path);
  for (let name = next.get(from); name !== undefined; name = next.get(name)) {
    path.push(name);
    if (name === from) return path;
    if (seen.has(name)) return null;
    seen.add(name);
  }
  return null;
}
