import { mutantsOf } from '../mutant.ts';

export const DOMAINS = [
  ...mutantsOf('main/model/leaf.ts', ['test/unit/model/leaf.test.ts'], {
    'a leaf of six days is renewed at once, for ever':
      '[-Math.min(RENEWAL_LEFT_MS, (notAfterMs - notBeforeMs) / 3)-]{+RENEWAL_LEFT_MS+}',
  }),
  ...mutantsOf('main/domains/suspend.ts', ['test/unit/domains/suspend.test.ts'], {
    'after the clock went back, the DNS is not looked at for years':
      '[-Math.min(nextCheckAtMs, nowMs + RECHECK_INTERVAL_MS)-]{+nextCheckAtMs+}',
    'after the clock went back, a leaf is not replaced before its beginning':
      'LEAF_LIFETIME_MS [-- RENEWAL_LEFT_MS -]+ DAY_MS',
  }),
  ...mutantsOf('main/domains/personas/personas.ts', ['test/unit/domains/certificate-machine.test.ts'], {
    'a first certificate is given up later than after 30 minutes':
      '[-Math.min(nowMs + part.everyMs, sinceMs + lengthOf(rhythm))-]{+nowMs + part.everyMs+}',
    'attempts go on at the end of 30 minutes': 'nowMs - sinceMs <{+=+} untilMs',
  }),
  ...mutantsOf('main/domains/hostname-machine.ts', ['test/unit/domains/certificate-machine.test.ts'], {
    'a certificate expires after its plan was lost and returned':
      "[-isHeld-]{+state === 'expired'+} ? step({ ...current, nextAttemptAtMs: current.renewAtMs }) : step(current)",
    'a jump of the clock lets a certificate expire instead of renewing it':
      "if (state === 'issued' && seriesAtMs === null{+ && (notAfterMs === null || atMs < notAfterMs)+}) return",
    'a renewal is tried every five minutes once more than 30 minutes have': 'atMs - seriesAtMs <{+=+} RETRIED_OFTEN_MS',
    'the retries after an expiry count from a renewal long ago': "state: 'expired'[-, seriesAtMs: null-] }",
  }),
  ...mutantsOf('main/domains/hostname-rules.ts', ['test/unit/domains/hostname-rules.test.ts'], {
    "names below home.arpa can't be attached": "[-except: 'home.arpa', -]",
    "names below localhost can't be attached": '[-    only: true,\n-]',
  }),
  ...mutantsOf('main/domains/checks/apex-checks.ts', ['test/unit/domains/checks/verification.test.ts'], {
    'an apex with an address elsewhere is verified':
      'found.[-filter((address) => !own.includes(address))-]{+some((address) => own.includes(address)) ? [] : found+}',
  }),
  ...mutantsOf(
    'main/domains/suspend.ts',
    ['test/unit/domains/suspend.test.ts', 'test/unit/domains/lifecycle.test.ts'],
    { 'a domain that moved while it was suspended is served': 'nextCheckAtMs: [-isLost ? null : nowMs-]{+null+}' },
  ),
  ...mutantsOf('main/domains/hostname-machine.ts', ['test/unit/domains/hostname-machine.test.ts'], {
    'a domain whose record was removed is pending again': 'hasFoundNothing[- && current.verifiedAtMs === null-]',
  }),
  ...mutantsOf('main/domains/issue.ts', ['test/unit/domains/lifecycle.test.ts'], {
    'a leaf is issued that no client accepts':
      '[-if (suffix !== null) return refuse(suffix.code, suffix.message, checks);-]',
    'a certificate is issued although CAA could not be looked up': "if (gate.outcome [-!== 'ok-]{+=== 'failed+}')",
  }),
  ...mutantsOf(
    'main/domains/checks/resolution.ts',
    ['test/unit/domains/checks/observe.test.ts', 'test/unit/domains/checks/verification.test.ts'],
    { 'a chain of ten CNAMEs is too long': 'if (seen.size >{+=+} CNAME_HOPS_MAX)' },
  ),
  ...mutantsOf('main/domains/checks/verify.ts', ['test/unit/domains/lifecycle.test.ts'], {
    'a record that has become visible is seen a day later': '[-Math.max(changesAtMs, nowMs + 1)-]{+Infinity+}',
    'a plan that is lost during an attempt is forgotten':
      'const then = [-current(domain)-]{+{ ...current(domain), state: before.state }+};',
  }),
  ...mutantsOf('main/domains/attach-rules.ts', ['test/unit/domains/hostname-rules.test.ts'], {
    'somebody upgrades for a hostname that is in use':
      "[-useRefusal(verdict.hostname, facts) ?? (rules === 'all' ? projectRefusal(facts) : null)-]{+(rules === 'all' ? projectRefusal(facts) : null) ?? useRefusal(verdict.hostname, facts)+}",
  }),
  ...mutantsOf('main/domains/checks/verification.ts', ['test/unit/domains/checks/verification.test.ts'], {
    'every domain is warned of a wildcard': 'addresses.[-length > 0 && addresses.-]every(',
  }),
  ...mutantsOf(
    'main/contract/check-codes.ts',
    ['test/unit/domains/checks/verification.test.ts', 'test/unit/domains/lifecycle.test.ts'],
    { 'a domain is misconfigured while its record is pending': "title: 'Not visible yet'[-, absent: true-]" },
  ),
  ...mutantsOf('main/domains/redirects.ts', ['test/unit/domains/redirects.test.ts'], {
    'two hostnames redirect to each other': '[-    if (name === from) return path;\n-]',
  }),
  ...mutantsOf('main/domains/checks/observe.ts', ['test/unit/domains/checks/observe.test.ts'], {
    'a wildcard is overlooked below the longest names': 'return name.length >{+=+} HOSTNAME_LENGTH_MAX',
  }),
  ...mutantsOf('main/base/text/hostname.ts', ['test/unit/base/text/hostname.test.ts'], {
    "the longest hostname can't be attached": 'hostname.length >{+=+} HOSTNAME_LENGTH_MAX',
  }),
  ...mutantsOf('main/domains/checks/resolution.ts', ['test/unit/domains/checks/observe.test.ts'], {
    'a name without such records looks delegated':
      "[-  if (authority.some(({ data }) => data.type === 'SOA')) return null;\n-]",
  }),
  ...mutantsOf('main/domains/checks/verification.ts', ['test/unit/domains/personas/personas.test.ts'], {
    'a hostname that its owner has reserved is given to another project':
      '...(refusal === undefined ? [] : [[-refusedCheck(hostname, refusal)-]]),',
    'a hostname whose addresses are those of all projects is given to any project that attaches it':
      '[- && observation.alias.chain.length > 0-]',
  }),
];
