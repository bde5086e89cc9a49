import { mutantsOf } from '../mutant.ts';

export const ENGINE = [
  ...mutantsOf('main/rpc/access.ts', ['unit/rpc/access'], {
    'the control port answers a request with two Hosts': 'host === undefined || more.length > [-0-]{+1+}',
    'a page at a hostname that begins like ours can ask':
      'request.origin[- === `http://${authority}`-]{+?.startsWith(`http://${authority}`) === true+}',
  }),
  ...mutantsOf('main/services/projects/project-rules.ts', ['unit/services/projects/project-rules'], {
    "a project takes the hostname of another one's staging": 'slug[-.endsWith(STAGING_SUFFIX)-]{+ === STAGING_SUFFIX+}',
  }),
  ...mutantsOf('main/reach/mapped-hostnames.ts', ['unit/reach/mapped-hostnames'], {
    'a hostname with a trailing dot is not reached through the proxy': 'host.toLowerCase()[-.replace(/\\\\.$/, "")-]',
  }),
  ...mutantsOf('main/machine/scripts.ts', ['integration/machine/machine'], {
    'a change to this machine, or its undo, overwrites later changes by others':
      'if [-! has "$file" "$2" && ! torn "$file" && [ $take = 0 ]-]{+false+}; then',
  }),
  ...mutantsOf('main/machine/machine.ts', ['integration/machine/machine'], {
    'a crash leaves a change to this machine that nothing undoes':
      '[-ledger.write([...entries, entry])-]{+void entries+};',
  }),
  ...mutantsOf('main/base/text/exact-json.ts', ['unit/base/text/exact-json'], {
    'an id beyond 2^53 comes back as another one': 'const NEEDS_LITERALS = /\\d{[-16-]{+20+}}|\\d[.eE]/;',
  }),
  ...mutantsOf(
    'main/store/tables/pets.ts',
    ['unit/store/tables/pet-listing', 'unit/store/pet-pages', 'unit/store/pet-writer'],
    { 'a page after the largest id fails': 'if (after [-===-]{+!== null && after >+} INT64_MAX) return' },
  ),
  ...mutantsOf('main/lan/interfaces.ts', ['unit/lan/lan'], {
    'the hostnames can be served on a public address': 'if (rankOf(wanted) >= [-0-]{+-1+}) return',
  }),
];
