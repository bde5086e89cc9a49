import type { Mutant } from '../mutant.ts';

export const ENGINE: readonly Mutant[] = [
  {
    id: 'engine.two-hosts-at-the-control-port',
    file: 'main/rpc/guard.ts',
    find: 'host === undefined || more.length > 0',
    replace: 'host === undefined || more.length > 1',
    breaks: 'the control port answers a request with two Hosts',
    tests: ['test/unit/rpc/guard.test.ts'],
  },
  {
    id: 'engine.origin-that-begins-like-ours',
    file: 'main/rpc/guard.ts',
    find: 'request.origin === `http://${authority}`',
    replace: 'request.origin?.startsWith(`http://${authority}`) === true',
    breaks: 'a page at a hostname that begins like ours can ask',
    tests: ['test/unit/rpc/guard.test.ts'],
  },
  {
    id: 'engine.slug-of-a-staging-hostname',
    file: 'main/services/project-rules.ts',
    find: 'slug.endsWith(STAGING_SUFFIX)',
    replace: 'slug === STAGING_SUFFIX',
    breaks: "a project takes the hostname of another one's staging",
    tests: ['test/unit/services/project-rules.test.ts'],
  },
  {
    id: 'engine.pac-with-a-dot',
    file: 'main/reach/mapped-hostnames.ts',
    find: 'host.toLowerCase().replace(/\\\\.$/, "")',
    replace: 'host.toLowerCase()',
    breaks: 'a hostname with a trailing dot is not reached through the proxy',
    tests: ['test/unit/reach/pac.test.ts'],
  },
  {
    id: 'engine.rounded-int64',
    file: 'main/base/exact-json.ts',
    find: 'const NEEDS_LITERALS = /\\d{16}|\\d[.eE]/;',
    replace: 'const NEEDS_LITERALS = /\\d{20}|\\d[.eE]/;',
    breaks: 'an id beyond 2^53 comes back as another one',
    tests: ['test/unit/base/exact-json.test.ts'],
  },
  {
    id: 'engine.page-after-the-largest-id',
    file: 'main/store/pet-listing.ts',
    find: 'after === INT64_MAX ? []',
    replace: 'after > INT64_MAX ? []',
    breaks: 'a page after the largest id fails',
    tests: [
      'test/unit/store/pet-listing.test.ts',
      'test/unit/store/pet-pages.test.ts',
      'test/unit/store/pet-ids.test.ts',
    ],
  },
];
