import { hash } from 'node:crypto';
import { uuidOf } from '../../base/text/uuid.ts';
import { HOSTNAME_LENGTH_MAX } from '../../base/text/hostname.ts';
import { isWildcard, wildcardOver } from '../../contract/hostnames.ts';
import type { Project } from '../../contract/projects.ts';
import { parentOf, ROOT } from '../../model/dns-name.ts';
import type { ClaimRule, Persona } from './personas.ts';
import { apexOf, isPublicSuffix } from '../public-suffix.ts';

/** A TXT record, by its absolute name. */
export interface Proof {
  name: string;
  value: string;
}

/** Decides which project owns a hostname, in addition to the records that lead here. */
export interface Claim {
  /** The TXT records that prove that it belongs to this project. */
  proofs: readonly Proof[];
  /** The effect of a missing proof. `alternative`, `unless_cname`: none if the CNAME leads to this project. */
  lack: 'warning' | 'failed' | 'alternative' | 'unless_cname';
  /** Another project's domain above the hostname; null without one. */
  rival: { domain: string; project: string } | null;
  /** TXT records with which other projects claim the hostname. */
  foreign: readonly (Proof & { domain: string; project: string })[];
}

/** The requirements of the project's persona. */
export interface DomainRules {
  persona: Persona;
  /** The platform's name that the domain's records point at. */
  cnameTarget: string;
  /** The platform's address for an apex; loopback by default. */
  address?: string;
  claim: Claim | null;
}

/** The fields of a project that claims need. */
export type Claimant = Pick<Project, 'id' | 'name' | 'slug'>;

/** Maximum number of other projects whose TXT records are queried, the oldest first. */
export const FOREIGN_CLAIMANTS_MAX = 20;

/** Equal projects and texts give equal tokens, so none is stored. */
const token = (project: Claimant, text: string): string => hash('sha256', `${project.id} ${text}`);

/** The parent of all names that hold proofs of a hostname; the proofs of a wildcard are beside it. */
const baseOf = (hostname: string): string => (isWildcard(hostname) ? parentOf(hostname) : hostname);

/** GitHub’s user names have at most 39 characters, and a label 63. */
const OWNER_LENGTH_MAX = 39;

/** GitHub’s: it protects a domain and the names one label below. */
const challengeOf = (project: Claimant, domain: string): Proof => ({
  name: `_github-pages-challenge-${project.slug.slice(0, OWNER_LENGTH_MAX)}.${domain}`,
  value: token(project, domain).slice(0, 30),
});

/** The names whose challenges protect a hostname, the closest last. */
function protectingNames(hostname: string): string[] {
  const base = baseOf(hostname);
  const above = parentOf(hostname);
  return [...new Set([above, base])].filter((name) => !isPublicSuffix(name));
}

/** Another project's domain above a hostname, or a wildcard over it. */
export interface Rival {
  /** The domain or wildcard. */
  domain: string;
  /** The same without the wildcard's label. */
  above: string;
  project: string;
}

/** The closest domain above, or wildcard over a hostname, that another project has. */
export function rivalOf(
  hostname: string,
  projectId: string,
  holderOf: (hostname: string) => { id: string; name: string } | null,
): Rival | null {
  for (let name = hostname, above = parentOf(name); above !== ROOT; name = above, above = parentOf(name)) {
    for (const domain of [wildcardOver(name), above]) {
      const holder = holderOf(domain);
      if (holder !== null && holder.id !== projectId) return { domain, above, project: holder.name };
    }
  }
  return null;
}

export interface ClaimFacts {
  hostname: string;
  project: Claimant;
  verifiedBefore: boolean;
  rival: Rival | null;
}

/** A project's claim on a hostname by its persona's rule; null if the persona requires none. */
export function claimOf(persona: Pick<Persona, 'claim' | 'proofs'>, facts: ClaimFacts): Claim | null {
  const own = persona.proofs.map((proof) => ownProof(facts, proof));
  const asked = PROOFS[persona.claim](facts, own);
  const proofs = asked?.proofs.filter(({ name }) => name.length <= HOSTNAME_LENGTH_MAX) ?? [];
  // A name too long for the DNS cannot have a record.
  if (asked === null || proofs.length === 0) return null;
  const { rival } = facts;
  return {
    ...asked,
    proofs,
    rival: rival === null ? null : { domain: rival.domain, project: rival.project },
    foreign: [],
  };
}

/** A TXT record that the persona has as data. */
const ownProof = (
  { hostname, project }: ClaimFacts,
  { label, prefix = '', length }: Persona['proofs'][number],
): Proof => ({
  name: `${label}.${baseOf(hostname)}`,
  value:
    length === undefined
      ? uuidOf(`${project.id} ${hostname}`)
      : `${prefix}${token(project, `${label} ${hostname}`).slice(0, length)}`,
});

const PROOFS: Record<ClaimRule, (facts: ClaimFacts, own: readonly Proof[]) => Pick<Claim, 'proofs' | 'lack'> | null> = {
  warned: ({ hostname, project, rival }) =>
    rival === null
      ? null
      : { proofs: [{ name: `_vivarium.${rival.above}`, value: `${hostname}=${project.id}` }], lack: 'warning' },
  contested({ hostname, project, rival, verifiedBefore }) {
    if (rival === null || verifiedBefore) return null;
    const value = `vc-domain-verify=${hostname},${token(project, hostname).slice(0, 20)}`;
    return { proofs: [{ name: `_vercel.${apexOf(hostname)}`, value }], lack: 'failed' };
  },
  unique: () => null,
  none: () => null,
  reserved({ hostname, project }) {
    const [domain] = protectingNames(hostname);
    return domain === undefined ? null : { proofs: [challengeOf(project, domain)], lack: 'warning' };
  },
  alternative: (_facts, proofs) => ({ proofs, lack: 'alternative' }),
  unless_cname: ({ verifiedBefore }, proofs) => ({ proofs, lack: verifiedBefore ? 'warning' : 'unless_cname' }),
  required: ({ verifiedBefore }, proofs) => ({ proofs, lack: verifiedBefore ? 'warning' : 'failed' }),
};

/** The TXT records with which other projects of the persona may have reserved a hostname. */
export function foreignProofs(
  { claim }: Pick<Persona, 'claim'>,
  hostname: string,
  others: () => readonly Claimant[],
): Claim['foreign'] {
  if (claim !== 'reserved') return [];
  return others()
    .slice(0, FOREIGN_CLAIMANTS_MAX)
    .flatMap((other) =>
      protectingNames(hostname).map((domain) => ({ ...challengeOf(other, domain), domain, project: other.name })),
    )
    .filter(({ name }) => name.length <= HOSTNAME_LENGTH_MAX);
}

/** How strings of TXT records are compared with a proof: surrounding spaces are ignored, case is not. */
export const isProven = (value: string, texts: readonly string[]): boolean =>
  texts.some((text) => text.trim() === value);

/** The probable mistake in a TXT record, as a sentence after a space; '' if there is none. */
export function slipOf(value: string, texts: readonly string[]): string {
  const bare = (text: string): string => text.replaceAll(/["\s]/g, '');
  if (texts.some((text) => bare(text) === value)) return ' It has quotation marks or spaces in it.';
  return texts.some((text) => bare(text).toLowerCase() === value.toLowerCase()) ? ' It differs in case only.' : '';
}
