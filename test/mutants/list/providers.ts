import { mutantsOf } from '../mutant.ts';

export const PROVIDERS = [
  ...mutantsOf('main/providers/credentials.ts', ['unit/providers/connections'], {
    'a real token of a provider is recorded': '[-rawHeaders[index + 1] = kept;-]',
    'a real token passes if one of ours is beside it': "[-return { kind: 'foreign' }-]{+continue+};",
    'credentials for another proxy are refused instead of ignored':
      'text.[-startsWith(`${PROXY_USER}:`) ? text.slice(PROXY_USER.length + 1) : null-]{+slice(text.indexOf(":") + 1)+}',
    'a credential in a field of another name is recorded':
      'SECRET.test(name)[- || (value.length > SHORT_LENGTH_MAX && !PLAIN.test(name))-]',
  }),
  ...mutantsOf('main/proxy/capture.ts', ['integration/engine/providers/way-in'], {
    'a secret for an operation that only the body names is recorded':
      '[-  capture.keepsRequest = false;\n  capture.request.chunks = [];-]',
  }),
  ...mutantsOf('main/providers/zones.ts', ['integration/engine/providers/netlify.clients'], {
    'a provider’s API reads and changes a zone of another provider':
      '[-if (!(await isDelegated({ name: zone, servers }))) return [];-]',
  }),
  ...mutantsOf('main/providers/connections.ts', ['unit/providers/connections'], {
    'a connection of a run is left behind by a killed engine': 'list()[-.filter(({ pid }) => pid === null)-]',
  }),
  ...mutantsOf('main/providers/cloudflare/status.ts', ['unit/providers/cloudflare-status'], {
    'a hostname that moved a week ago is not deleted': 'nowMs - movedAtMs <{+=+} DELETED_AFTER_MS',
    'a certificate is active although its TXT record was never added':
      "return [-isValidated || domain.state !== 'verified' ? 'active' : 'pending_validation-]{+'active+}';",
  }),
  ...mutantsOf('main/children/ways.ts', ['integration/children/reserved-hosts'], {
    'the real API is reached while Vivarium does not run':
      "if (engine === null) [-throw new Error('Vivarium, which simulates it, does not run')-]{+return (await through(proxyBefore(env, { host, port, scheme: 'https' }) as URL, { host, port, scheme: 'https' }, true)).socket+};",
  }),
  ...mutantsOf('main/ca/leaf.ts', ['unit/ca/run-leaves'], {
    'certificates for hosts of others are valid for a week': '[-, lifetimeMs: RUN_LEAF_MS - HOUR_MS-]',
  }),
];
