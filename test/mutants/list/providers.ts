import { mutantsOf } from '../mutant.ts';

export const PROVIDERS = [
  ...mutantsOf('main/providers/credentials.ts', ['test/unit/providers/connections.test.ts'], {
    'providers.foreign-token-is-kept': {
      find: 'rawHeaders[index + 1] = kept;',
      replace: '',
      breaks: 'a real token of a provider is recorded',
    },
    'providers.foreign-token-beside-ours': {
      find: "return { kind: 'foreign' };",
      replace: 'continue;',
      breaks: 'a real token passes if one of ours is beside it',
    },
    'providers.every-password-is-a-token': {
      find: 'text.startsWith(`${PROXY_USER}:`) ? text.slice(PROXY_USER.length + 1) : null',
      replace: 'text.slice(text.indexOf(":") + 1)',
      breaks: 'credentials for another proxy are refused instead of ignored',
    },
    'providers.credentials-by-name-only': {
      find: 'SECRET.test(name) || (value.length > SHORT_LENGTH_MAX && !PLAIN.test(name))',
      replace: 'SECRET.test(name)',
      breaks: 'a credential in a field of another name is recorded',
    },
  }),
  ...mutantsOf('main/proxy/capture.ts', ['test/integration/engine/providers/way-in.test.ts'], {
    'providers.unread-body-is-recorded': {
      find: `  capture.keepsRequest = false;
  capture.request.chunks = [];`,
      replace: '',
      breaks: 'a secret for an operation that only the body names is recorded',
    },
  }),
  ...mutantsOf('main/providers/zones.ts', ['test/integration/engine/providers/netlify.clients.test.ts'], {
    'providers.zone-with-other-name-servers': {
      find: 'if (!(await isDelegated(call, { name: zone, servers }))) return [];',
      replace: '',
      breaks: 'a provider’s API reads and changes a zone of another provider',
    },
  }),
  ...mutantsOf('main/providers/connections.ts', ['test/unit/providers/connections.test.ts'], {
    'providers.runs-outlast-a-restart': {
      find: 'list().filter(({ pid }) => pid === null)',
      replace: 'list()',
      breaks: 'a connection of a run is left behind by a killed engine',
    },
  }),
  ...mutantsOf('main/providers/cloudflare/status.ts', ['test/unit/providers/cloudflare-status.test.ts'], {
    'providers.moved-for-a-day-more': {
      find: 'nowMs - movedAtMs < DELETED_AFTER_MS',
      replace: 'nowMs - movedAtMs <= DELETED_AFTER_MS',
      breaks: 'a hostname that moved a week ago is not deleted',
    },
    'providers.certificate-without-validation': {
      find: "return isValidated || domain.state !== 'verified' ? 'active' : 'pending_validation';",
      replace: "return 'active';",
      breaks: 'a certificate is active although its TXT record was never added',
    },
  }),
  ...mutantsOf('main/children/ways.ts', ['test/integration/children/reserved-hosts.test.ts'], {
    'providers.real-host-without-an-engine': {
      find: "if (engine === null) throw new Error('Vivarium, which simulates it, does not run');",
      replace:
        "if (engine === null) return (await through(proxyBefore(env, { host, port, scheme: 'https' }) as URL, { host, port, scheme: 'https' }, true)).socket;",
      breaks: 'the real API is reached while Vivarium does not run',
    },
  }),
  ...mutantsOf('main/ca/leaf.ts', ['test/unit/ca/run-leaves.test.ts'], {
    'providers.leaves-of-a-week': {
      find: ', lifetimeMs: RUN_LEAF_MS - HOUR_MS',
      replace: '',
      breaks: 'certificates for hosts of others are valid for a week',
    },
  }),
];
