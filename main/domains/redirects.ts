import { normalizeHostname } from '../base/text/hostname.ts';
import type { InputIssue } from '../contract/errors.ts';
import type { Project } from '../contract/projects.ts';

export type DomainRedirect = Project['redirects'][number];

/** A redirect as entered: without a status, its target determines one. */
export type WantedRedirect = Omit<DomainRedirect, 'status'> & { status?: DomainRedirect['status'] | undefined };

export interface RedirectFacts {
  projectId: string;
  /** The project that a hostname is attached to; null when there is none. */
  holderOf(hostname: string): { projectId: string } | null;
  /** Redirects of other projects, which a loop can pass through. */
  others: readonly DomainRedirect[];
}

export type RedirectVerdict = { ok: true; redirects: DomainRedirect[] } | { ok: false; issues: readonly InputIssue[] };

/** Before a hostname in `to`: redirects to HTTPS. */
export const HTTPS_PREFIX = 'https://';

/**
 * Whether a project may have these redirects: each `from` attached to it and unique, `to` a hostname, and no loop. A
 * hostname may be redirected to itself over HTTPS.
 */
export function evaluateRedirects(wanted: readonly WantedRedirect[], facts: RedirectFacts): RedirectVerdict {
  const issues: InputIssue[] = [];
  const redirects: DomainRedirect[] = [];
  const next = new Map(facts.others.flatMap(stepOf));
  const taken = new Set<string>();
  wanted.forEach((redirect, index) => {
    const at = (field: 'from' | 'to' | 'hsts'): string => `redirects[${index}].${field}`;
    const from = normalizeHostname(redirect.from);
    const isSecure = redirect.to.startsWith(HTTPS_PREFIX);
    const to = normalizeHostname(isSecure ? redirect.to.slice(HTTPS_PREFIX.length) : redirect.to);
    if (!from.ok) issues.push({ path: at('from'), message: NOT_A_HOSTNAME });
    if (!to.ok) issues.push({ path: at('to'), message: NOT_A_TARGET });
    if (redirect.hsts === true && !isSecure) issues.push({ path: at('hsts'), message: HSTS_NEEDS_HTTPS });
    if (!from.ok || !to.ok) return;
    const fault = sourceFault(from.hostname, facts, taken);
    if (fault !== null) issues.push({ path: at('from'), message: fault });
    taken.add(from.hostname);
    const stored: DomainRedirect = {
      from: from.hostname,
      to: isSecure ? `${HTTPS_PREFIX}${to.hostname}` : to.hostname,
      status: redirect.status ?? (isSecure ? 308 : 301),
      ...(redirect.hsts === true && { hsts: true }),
    };
    for (const [name, target] of stepOf(stored)) next.set(name, target);
    redirects.push(stored);
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
const NOT_A_TARGET =
  'must be a bare hostname, such as "www.example.test", or "https://" and a hostname to require HTTPS, without port or path';
const HSTS_NEEDS_HTTPS = 'is for redirects to HTTPS: begin "to" with "https://"';

/** The step from one hostname to the next; a redirect to HTTPS at the same hostname has none. */
function stepOf({ from, to }: DomainRedirect): [string, string][] {
  const isSecure = to.startsWith(HTTPS_PREFIX);
  const target = isSecure ? to.slice(HTTPS_PREFIX.length) : to;
  return isSecure && target === from ? [] : [[from, target]];
}

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
