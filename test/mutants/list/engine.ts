import { mutantsOf } from '../mutant.ts';

export const ENGINE = [
  ...mutantsOf('main/rpc/guard.ts', ['test/unit/rpc/guard.test.ts'], {
    'engine.two-hosts-at-the-control-port': {
      find: 'host === undefined || more.length > 0',
      replace: 'host === undefined || more.length > 1',
      breaks: 'the control port answers a request with two Hosts',
    },
    'engine.origin-that-begins-like-ours': {
      find: 'request.origin === `http://${authority}`',
      replace: 'request.origin?.startsWith(`http://${authority}`) === true',
      breaks: 'a page at a hostname that begins like ours can ask',
    },
  }),
  ...mutantsOf('main/services/projects/project-rules.ts', ['test/unit/services/projects/project-rules.test.ts'], {
    'engine.slug-of-a-staging-hostname': {
      find: 'slug.endsWith(STAGING_SUFFIX)',
      replace: 'slug === STAGING_SUFFIX',
      breaks: "a project takes the hostname of another one's staging",
    },
  }),
  ...mutantsOf('main/reach/mapped-hostnames.ts', ['test/unit/reach/pac.test.ts'], {
    'engine.pac-with-a-dot': {
      find: 'host.toLowerCase().replace(/\\\\.$/, "")',
      replace: 'host.toLowerCase()',
      breaks: 'a hostname with a trailing dot is not reached through the proxy',
    },
  }),
  ...mutantsOf('main/machine/scripts.ts', ['test/integration/machine/machine.test.ts'], {
    'engine.undo-over-others': {
      find: 'if ! has "$file" "$2" && ! torn "$file" && [ $take = 0 ]; then',
      replace: 'if false; then',
      breaks: 'a change to this machine, or its undo, overwrites later changes by others',
    },
  }),
  ...mutantsOf('main/machine/machine.ts', ['test/integration/machine/machine.test.ts'], {
    'engine.change-before-its-ledger': {
      find: 'ledger.write([...entries, entry]);',
      replace: 'void entries;',
      breaks: 'a crash leaves a change to this machine that nothing undoes',
    },
  }),
  ...mutantsOf('main/base/text/exact-json.ts', ['test/unit/base/text/exact-json.test.ts'], {
    'engine.rounded-int64': {
      find: 'const NEEDS_LITERALS = /\\d{16}|\\d[.eE]/;',
      replace: 'const NEEDS_LITERALS = /\\d{20}|\\d[.eE]/;',
      breaks: 'an id beyond 2^53 comes back as another one',
    },
  }),
  ...mutantsOf(
    'main/store/tables/pets.ts',
    [
      'test/unit/store/tables/pet-listing.test.ts',
      'test/unit/store/pet-pages.test.ts',
      'test/unit/store/pet-ids.test.ts',
    ],
    {
      'engine.page-after-the-largest-id': {
        find: 'if (after === INT64_MAX) return',
        replace: 'if (after !== null && after > INT64_MAX) return',
        breaks: 'a page after the largest id fails',
      },
    },
  ),
  ...mutantsOf('main/lan/interfaces.ts', ['test/unit/lan/interfaces.test.ts'], {
    'engine.public-address-for-other-devices': {
      find: 'if (rankOf(wanted) >= 0) return',
      replace: 'if (rankOf(wanted) >= -1) return',
      breaks: 'the hostnames can be served on a public address',
    },
  }),
];
