import type { EpochMs } from '../../base/clock.ts';
import type { ZoneFacts } from '../checks/checks.ts';
import { canonicalAddress } from '../../model/address.ts';
import { dnsName, isAtOrBelow, parentOf } from '../../model/dns-name.ts';
import type { DomainRules } from './claims.ts';
import type { DomainKind } from '../public-suffix.ts';
import type { Check, Domain } from '../../contract/domains.ts';
import type { AttachedDomain } from '../domain-set.ts';
import { type Persona, type Situation, wordsFor } from './personas.ts';

/**
 * The records that the DNS provider (here Vivarium) has stored for a hostname. They only explain failed checks and
 * never make a check pass.
 */
export interface ProviderFacts extends ZoneFacts {
  /** The records stored for the hostname, or for its wildcard if it has none, visible or not. */
  records: readonly ProviderRecord[];
  /** When the last pending change to these records, removals included, becomes visible; null when none is pending. */
  visibleAtMs: EpochMs | null;
}

/** The facts that verification uses besides its DNS observations. */
export interface VerificationFacts extends DomainRules {
  kind: DomainKind;
  /** Whether the domain has ever been verified since it was attached. */
  verifiedBefore: boolean;
  /** Null for a hostname outside Vivarium's zones, or with another resolver. */
  provider: ProviderFacts | null;
}

/** Whether a name of the platform is a valid CNAME target. */
export const isTarget = (
  name: string,
  { persona, cnameTarget }: Pick<DomainRules, 'persona' | 'cnameTarget'>,
): boolean => name === cnameTarget || (persona.takesAnyTarget && isAtOrBelow(name, parentOf(cnameTarget)));

export interface ProviderRecord {
  type: string;
  /** The address of an A or AAAA, the target of a CNAME, ALIAS or ANAME. */
  value: string;
}

const isAlias = ({ type }: ProviderRecord): boolean => type === 'ALIAS' || type === 'ANAME';
const isAddress = ({ type }: ProviderRecord): boolean => type === 'A' || type === 'AAAA';

/** An ALIAS or ANAME that the provider stores but does not serve. */
export const unansweredAlias = (provider: ProviderFacts | null): ProviderRecord | undefined =>
  provider !== null && !provider.supportsAlias ? provider.records.find(isAlias) : undefined;

/** Whether the stored records match the instructions, without a contradiction. */
export function isStoredRight(
  { records, supportsAlias }: ProviderFacts,
  rules: Pick<VerificationFacts, 'kind' | 'persona' | 'cnameTarget'>,
  targetAddresses: readonly string[],
): boolean {
  const cnames = records.filter(({ type }) => type === 'CNAME');
  const aliases = records.filter(isAlias);
  const addresses = records.filter(isAddress);
  const leadsThere = ({ value }: ProviderRecord): boolean => isTarget(dnsName(value), rules);
  const own = addresses.every(({ value }) => targetAddresses.includes(canonicalAddress(value)));
  if (rules.kind === 'subdomain') {
    if (rules.persona.takesAddresses && own && addresses.length > 0) return cnames.length + aliases.length === 0;
    return cnames.length === 1 && cnames.every(leadsThere) && aliases.length === 0 && addresses.length === 0;
  }
  if (cnames.length > 0 || !own) return false;
  return aliases.length === 0 ? addresses.length > 0 : supportsAlias && aliases.every(leadsThere);
}

type Shown = Pick<AttachedDomain, 'state' | 'checks' | 'verifiedAtMs' | 'lastCheckedAtMs' | 'nextCheckAtMs'> & {
  certificate: Pick<AttachedDomain['certificate'], 'state' | 'refusal'>;
};

/** Whether the automatic checks ended without success. */
export const isGivenUp = ({ state, nextCheckAtMs }: Pick<Shown, 'state' | 'nextCheckAtMs'>): boolean =>
  state !== 'suspended' && state !== 'verified' && nextCheckAtMs === null;

function situationOf(domain: Shown): Situation {
  const { state, checks, verifiedAtMs, lastCheckedAtMs } = domain;
  if (state === 'verified') return 'verified';
  if (lastCheckedAtMs === null) return 'unchecked';
  if (verifiedAtMs !== null || isGivenUp(domain)) return 'moved';
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return failed.length > 0 && failed.every(({ code }) => code === 'txt_missing') ? 'unproven' : 'wrong';
}

/** The persona's words for the states of a domain; undefined for the platform's own persona, which has none. */
export function personaOf({ id, name, words }: Persona, domain: Shown): Domain['persona'] {
  if (id === 'animal-store') return undefined;
  // A suspension comes from the platform's plans.
  const state = domain.state === 'suspended' ? undefined : words.hostname[situationOf(domain)];
  const { state: issuance, refusal } = domain.certificate;
  const certificate = words.certificate[issuance === 'pending' && refusal !== null ? 'refused' : issuance];
  return {
    id,
    name,
    ...(state !== undefined && { state }),
    ...(certificate !== undefined && { certificate }),
    givenUp: isGivenUp(domain),
  };
}

/** A check with the persona's words, unless it passed. */
export function worded(check: Check, { words }: Persona, hostname: string): Check {
  const text = check.outcome === 'ok' ? undefined : words.problems[check.code];
  return text === undefined ? check : { ...check, words: wordsFor(text, hostname) };
}

/** What a provider’s documentation says about its customers’ records and their certificates, in 2026. */
interface Published {
  /** The target of CNAMEs. Where each customer has one of his own: an example below the same parent. */
  target: string;
  /** Other names that lead there. */
  others?: readonly string[];
  /** The addresses for an apex; none where they are not the same for all customers. */
  addresses?: readonly string[];
  /** The CAs that issue its certificates, by their names in CAA records. */
  issuers: readonly string[];
}

const LETS_ENCRYPT = 'letsencrypt.org';
const GOOGLE = 'pki.goog';

/** By the id of the persona. The platform’s own has none: its records lead to Vivarium. */
export const PUBLISHED: Readonly<Record<string, Published | undefined>> = {
  // vercel.com/docs/domains/set-up-custom-domain, with the name and the address of other projects.
  vercel: {
    target: 'cname.vercel-dns-0.com',
    others: ['cname.vercel-dns.com'],
    addresses: ['76.76.21.21', '216.198.79.1'],
    issuers: [LETS_ENCRYPT],
  },
  // docs.netlify.com/manage/domains/configure-domains/configure-external-dns
  netlify: {
    target: 'your-site.netlify.app',
    others: ['apex-loadbalancer.netlify.com'],
    addresses: ['75.2.60.5'],
    issuers: [LETS_ENCRYPT],
  },
  // docs.github.com/en/pages/configuring-a-custom-domain-for-your-github-pages-site
  'github-pages': {
    target: 'your-name.github.io',
    addresses: [
      ...['185.199.108.153', '185.199.109.153', '185.199.110.153', '185.199.111.153'],
      ...['2606:50c0:8000::153', '2606:50c0:8001::153', '2606:50c0:8002::153', '2606:50c0:8003::153'],
    ],
    issuers: [LETS_ENCRYPT],
  },
  // developers.cloudflare.com/ssl/reference/certificate-authorities; the target is a name of the SaaS provider.
  cloudflare: { target: 'customers.your-saas.example', issuers: [LETS_ENCRYPT, GOOGLE, 'ssl.com'] },
  // mintlify.com/docs/customize/custom-domain, with the name that it had before.
  mintlify: { target: 'cname.mintlify.builders', others: ['cname.mintlify-dns.com'], issuers: [LETS_ENCRYPT] },
  // fly.io/docs/networking/custom-domain; the addresses are those of one app.
  fly: { target: 'your-app.fly.dev', issuers: [LETS_ENCRYPT] },
  // docs.render.com/custom-domains
  render: { target: 'your-service.onrender.com', addresses: ['216.24.57.1'], issuers: [LETS_ENCRYPT, GOOGLE] },
  // docs.railway.com/networking/domains
  railway: { target: 'your-service.up.railway.app', issuers: [LETS_ENCRYPT] },
};
