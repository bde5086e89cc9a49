import { mutantsOf } from '../mutant.ts';

export const ENGINE = [
  ...mutantsOf('main/rpc/access.ts', ['test/unit/rpc/guard.test.ts'], {
    'the control port answers a request with two Hosts': 'host === undefined || more.length > [-0-]{+1+}',
    'a page at a hostname that begins like ours can ask':
      'request.origin[- === `http://${authority}`-]{+?.startsWith(`http://${authority}`) === true+}',
  }),
  ...mutantsOf('main/services/projects/project-rules.ts', ['test/unit/services/projects/project-rules.test.ts'], {
    "a project takes the hostname of another one's staging": 'slug[-.endsWith(STAGING_SUFFIX)-]{+ === STAGING_SUFFIX+}',
  }),
  ...mutantsOf('main/reach/mapped-hostnames.ts', ['test/unit/reach/pac.test.ts'], {
    'a hostname with a trailing dot is not reached through the proxy': 'host.toLowerCase()[-.replace(/\\\\.$/, "")-]',
  }),
  ...mutantsOf('main/machine/scripts.ts', ['test/integration/machine/machine.test.ts'], {
    'a change to this machine, or its undo, overwrites later changes by others':
      'if [-! has "$file" "$2" && ! torn "$file" && [ $take = 0 ]-]{+false+}; then',
  }),
  ...mutantsOf('main/machine/machine.ts', ['test/integration/machine/machine.test.ts'], {
    'a crash leaves a change to this machine that nothing undoes':
      '[-ledger.write([...entries, entry])-]{+void entries+};',
  }),
  ...mutantsOf('main/base/text/exact-json.ts', ['test/unit/base/text/exact-json.test.ts'], {
    'an id beyond 2^53 comes back as another one': 'const NEEDS_LITERALS = /\\d{[-16-]{+20+}}|\\d[.eE]/;',
  }),
  ...mutantsOf(
    'main/store/tables/pets.ts',
    [
      'test/unit/store/tables/pet-listing.test.ts',
      'test/unit/store/pet-pages.test.ts',
      'test/unit/store/pet-ids.test.ts',
    ],
    { 'a page after the largest id fails': 'if (after [-===-]{+!== null && after >+} INT64_MAX) return' },
  ),
  ...mutantsOf('main/lan/interfaces.ts', ['test/unit/lan/interfaces.test.ts'], {
    'the hostnames can be served on a public address': 'if (rankOf(wanted) >= [-0-]{+-1+}) return',
  }),
];
