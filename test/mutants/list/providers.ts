import { mutantsOf } from '../mutant.ts';

export const PROVIDERS = [
  ...mutantsOf('main/providers/credentials.ts', ['test/unit/providers/connections.test.ts'], {
    'a real token of a provider is recorded': '[-rawHeaders[index + 1] = kept;-]',
    'a real token passes if one of ours is beside it': "[-return { kind: 'foreign' }-]{+continue+};",
    'credentials for another proxy are refused instead of ignored':
      'text.[-startsWith(`${PROXY_USER}:`) ? text.slice(PROXY_USER.length + 1) : null-]{+slice(text.indexOf(":") + 1)+}',
    'a credential in a field of another name is recorded':
      'SECRET.test(name)[- || (value.length > SHORT_LENGTH_MAX && !PLAIN.test(name))-]',
  }),
  ...mutantsOf('main/proxy/capture.ts', ['test/integration/engine/providers/way-in.test.ts'], {
    'a secret for an operation that only the body names is recorded':
      '[-  capture.keepsRequest = false;\n  capture.request.chunks = [];-]',
  }),
  ...mutantsOf('main/providers/zones.ts', ['test/integration/engine/providers/netlify.clients.test.ts'], {
    'a provider’s API reads and changes a zone of another provider':
      '[-if (!(await isDelegated(call, { name: zone, servers }))) return [];-]',
  }),
  ...mutantsOf('main/providers/connections.ts', ['test/unit/providers/connections.test.ts'], {
    'a connection of a run is left behind by a killed engine': 'list()[-.filter(({ pid }) => pid === null)-]',
  }),
  ...mutantsOf('main/providers/cloudflare/status.ts', ['test/unit/providers/cloudflare-status.test.ts'], {
    'a hostname that moved a week ago is not deleted': 'nowMs - movedAtMs <{+=+} DELETED_AFTER_MS',
    'a certificate is active although its TXT record was never added':
      "return [-isValidated || domain.state !== 'verified' ? 'active' : 'pending_validation-]{+'active+}';",
  }),
  ...mutantsOf('main/children/ways.ts', ['test/integration/children/reserved-hosts.test.ts'], {
    'the real API is reached while Vivarium does not run':
      "if (engine === null) [-throw new Error('Vivarium, which simulates it, does not run')-]{+return (await through(proxyBefore(env, { host, port, scheme: 'https' }) as URL, { host, port, scheme: 'https' }, true)).socket+};",
  }),
  ...mutantsOf('main/ca/leaf.ts', ['test/unit/ca/run-leaves.test.ts'], {
    'certificates for hosts of others are valid for a week': '[-, lifetimeMs: RUN_LEAF_MS - HOUR_MS-]',
  }),
];
