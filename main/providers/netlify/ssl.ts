import type { Certificate } from '../../contract/certificates.ts';
import type { Domain } from '../../contract/domains.ts';
import { certificateOf } from '../domains.ts';
import { CONTEXT, NO_UPLOAD, ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, ProviderProject, Reply } from '../provider.ts';
import { siteDomains, hostnameOf, invalid, notFound, siteIn } from './account.ts';

/** Netlify's words when the authority does not validate a hostname whose records are right. */
const CHALLENGE = 'SniCertificate::CertificateValidationError: Unable to verify challenge';

const unprocessable = (message: string): never => refuse(422, 'unprocessable', message);

const certificatesOf = async (call: Call, domains: readonly Domain[]): Promise<Certificate[]> =>
  (await Promise.all(domains.map((domain) => certificateOf(call, domain)))).filter((each) => each !== null);

/** The certificates of hostnames as one: the worst state, the first end. */
function merged(certificates: readonly Certificate[], state: string) {
  const times = (of: (each: Certificate) => string): string[] => certificates.map(of).toSorted();
  const begun = times(({ notBefore }) => notBefore);
  return {
    state,
    domains: certificates.flatMap(({ sans }) => sans),
    created_at: begun[0] ?? null,
    updated_at: begun.at(-1) ?? null,
    expires_at: times(({ notAfter }) => notAfter)[0] ?? null,
  };
}

const WORST_FIRST = ['expired', 'failed', 'pending', 'issued'] as const;

async function shown(call: Call, site: ProviderProject) {
  const { custom, aliases } = await siteDomains(call, site);
  const domains = custom === null ? aliases : [custom, ...aliases];
  const states = domains.map(({ certificate }) => certificate.state);
  const state = WORST_FIRST.find((each) => states.includes(each)) ?? notFound();
  return merged(await certificatesOf(call, domains), state);
}

/** Checks the hostnames without a certificate, which issues theirs. Aliases that do not lead here are left out. */
async function provision(call: Call): Promise<Reply> {
  const { world, query } = call;
  if (query.has('certificate')) refuse(501, 'not_emulated', NO_UPLOAD);
  const site = siteIn(call);
  const { custom, aliases } = await siteDomains(call, site);
  if (custom === null) return unprocessable('No custom domain configured');
  const isMissing = ({ certificate }: Domain): boolean => certificate.state !== 'issued';
  const missing = [custom, ...aliases].filter(isMissing);
  if (missing.length === 0) unprocessable('certificate parameter is required when updating an existing certificate');
  const checked: Domain[] = [];
  for (const { hostname } of missing) checked.push(await world.verify(hostname));
  const own = checked.find(({ hostname }) => hostname === custom.hostname);
  if (own !== undefined && own.state !== 'verified') unprocessable('bad dns for custom domain');
  const refused = checked.find(({ state, certificate }) => state === 'verified' && isRefused(certificate));
  if (refused !== undefined) unprocessable(CHALLENGE);
  return ok(await shown(call, site));
}

/** No certificate, for another reason than an issuance that takes time. */
const isRefused = ({ state, reason }: Domain['certificate']): boolean =>
  state !== 'issued' && reason !== 'issuance_pending';

async function list(call: Call): Promise<Reply> {
  const domain = call.query.get('domain') ?? invalid('domain', 'can’t be blank');
  const site = siteIn(call);
  const hostname = hostnameOf(call, 'domain', domain);
  if (call.world.held(hostname)?.projectId !== site.id) notFound();
  const own = await call.world.services.domains.get({ hostname }, CONTEXT);
  const found = await certificatesOf(call, [own]);
  return ok(found.map((certificate) => merged([certificate], own.certificate.state)));
}

const SSL = '/api/v1/sites/{site_id}/ssl';

export const SSL_OPERATIONS: readonly Operation[] = [
  operation('provisionSiteTLSCertificate', `POST ${SSL}`, provision),
  operation('showSiteTLSCertificate', `GET ${SSL}`, async (call) => ok(await shown(call, siteIn(call)))),
  operation('getAllCertificates', `GET ${SSL}/certificates`, list),
];
