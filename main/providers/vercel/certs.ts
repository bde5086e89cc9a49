import { z } from 'zod';
import type { Certificate } from '../../contract/certificates.ts';
import { CONTEXT } from '../facts.ts';
import { missing, NO_UPLOAD, ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { ownedBy, ownsProject } from '../domains.ts';
import { hostnameOf } from './account.ts';

const names = z.array(z.string()).min(1).max(100);
/** `domains`: the name before version 8, which Vercel’s own command sends. */
const issuance = z.union([
  z.object({ cns: names }),
  z.object({ domains: names }).transform(({ domains: cns }) => ({ cns })),
]);

/** A certificate as the API shows it; the serial number identifies it. */
const shown = ({ serial, sans, notBefore, notAfter }: Certificate) => ({
  id: `cert_${serial}`,
  cns: sans,
  autoRenew: true,
  createdAt: Date.parse(notBefore),
  expiresAt: Date.parse(notAfter),
  // The names before version 8.
  uid: `cert_${serial}`,
  created: notBefore,
  expiration: notAfter,
});

async function all({ world, account }: Call): Promise<Certificate[]> {
  const held = world.domains().filter(ownedBy(account));
  const own = new Set(held.map(({ hostname }) => hostname));
  const certificates = await world.services.certificates.list({}, CONTEXT);
  return certificates.filter(({ hostname, revoked }) => own.has(hostname) && revoked === undefined);
}

async function existing(call: Call): Promise<Certificate> {
  const { id = '' } = call.params;
  const found = (await all(call)).find(({ serial }) => `cert_${serial}` === id);
  return found ?? refuse(404, 'not_found', `The certificate "${id}" was not found.`);
}

/** Says why none could be issued, in the words of the provider’s own command line. */
async function explain({ world, account }: Call, hostname: string): Promise<never> {
  const holder = world.held(hostname);
  const projectId = holder?.projectId ?? account.projects[0].id;
  const { checks, gate } = await world.look(projectId, hostname);
  const wrong = checks.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const forbidden = gate.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const told = { cns: [hostname], domain: hostname };
  if (wrong !== undefined) return refuse(449, 'configuration_error', wrong.message, { ...told, external: true });
  const code = forbidden?.code.startsWith('caa_') === true ? 'conflicting_caa_record' : 'unauthorized_request_error';
  return refuse(400, code, forbidden?.message ?? 'The certificate could not be issued.', told);
}

async function issue(call: Call, { cns: [name = '', ...others] }: z.infer<typeof issuance>): Promise<Reply> {
  const { world, account } = call;
  if (others.length > 0) refuse(400, 'bad_domains', 'Vivarium issues one certificate for each hostname. Send one.');
  const { hostname } = hostnameOf(call, name);
  const holder = world.held(hostname);
  if (holder === null || !ownsProject(account, holder.projectId))
    refuse(404, 'not_found', `The domain "${hostname}" was not found.`, { domain: hostname });
  await world.verify(hostname);
  try {
    return ok(shown(await world.services.certificates.renew({ hostname }, CONTEXT)));
  } catch {
    return explain(call, hostname);
  }
}

async function list(call: Call): Promise<Reply> {
  const certs = (await all(call)).map(shown);
  return ok({ certs, pagination: { count: certs.length, next: null, prev: null } });
}

async function remove(call: Call): Promise<Reply> {
  const { hostname } = await existing(call);
  await call.world.services.certificates.revoke({ hostname, reason: 'cessationOfOperation' }, CONTEXT);
  return ok({});
}

const ALL = '/v8/certs';
const ONE = `${ALL}/{id}`;

export const CERTS: readonly Operation[] = [
  operation('getCerts', `GET ${ALL}`, list),
  operation('getCertById', `GET ${ONE}`, async (call) => ok(shown(await existing(call)))),
  operation('issueCert', `POST ${ALL}`, issue, { input: issuance, limit: 'verify' }),
  missing('uploadCert', `PUT ${ALL}`, NO_UPLOAD),
  operation('removeCert', `DELETE ${ONE}`, remove),
];
