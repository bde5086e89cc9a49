import { z } from 'zod';
import type { Certificate } from '../../contract/certificates.ts';
import { type Call, CONTEXT, type Operation, type Reply, refuse } from '../provider.ts';
import { ownsProject } from '../claims.ts';
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
  const own = new Set(
    world
      .domains()
      .filter(({ projectId }) => ownsProject(account, projectId))
      .map(({ hostname }) => hostname),
  );
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
  const projectId = holder?.projectId ?? account.projects[0]?.id ?? '';
  const { checks, gate } = await world.look(projectId, hostname);
  const wrong = checks.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const forbidden = gate.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const told = { cns: [hostname], domain: hostname };
  if (wrong !== undefined) return refuse(449, 'configuration_error', wrong.message, { ...told, external: true });
  const code = forbidden?.code.startsWith('caa_') === true ? 'conflicting_caa_record' : 'unauthorized_request_error';
  return refuse(400, code, forbidden?.message ?? 'The certificate could not be issued.', told);
}

async function issue(call: Call): Promise<Reply> {
  const { world, account } = call;
  const [name = '', ...others] = (call.body as z.infer<typeof issuance>).cns;
  if (others.length > 0) refuse(400, 'bad_domains', 'Vivarium issues one certificate for each hostname. Send one.');
  const { hostname } = hostnameOf(call, name);
  const holder = world.held(hostname);
  if (holder === null || !ownsProject(account, holder.projectId))
    refuse(404, 'not_found', `The domain "${hostname}" was not found.`, { domain: hostname });
  await world.verify(hostname);
  try {
    return { status: 200, body: shown(await world.services.certificates.renew({ hostname }, CONTEXT)) };
  } catch {
    return explain(call, hostname);
  }
}

async function list(call: Call): Promise<Reply> {
  const certs = (await all(call)).map(shown);
  return { status: 200, body: { certs, pagination: { count: certs.length, next: null, prev: null } } };
}

async function remove(call: Call): Promise<Reply> {
  const { hostname } = await existing(call);
  await call.world.services.certificates.revoke({ hostname, reason: 'cessationOfOperation' }, CONTEXT);
  return { status: 200, body: {} };
}

const UPLOAD = 'All certificates here are signed by Vivarium’s own root; one of another CA has no place.';

export const CERTS: readonly Operation[] = [
  { name: 'getCerts', method: 'GET', path: '/v8/certs', handle: list },
  {
    name: 'getCertById',
    method: 'GET',
    path: '/v8/certs/{id}',
    handle: async (call) => ({ status: 200, body: shown(await existing(call)) }),
  },
  { name: 'issueCert', method: 'POST', path: '/v8/certs', input: issuance, limit: 'verify', handle: issue },
  {
    name: 'uploadCert',
    method: 'PUT',
    path: '/v8/certs',
    missing: UPLOAD,
    handle: () => ({ status: 501, body: null }),
  },
  { name: 'removeCert', method: 'DELETE', path: '/v8/certs/{id}', handle: remove },
];
