import { mutantsOf } from '../mutant.ts';

export const DOMAINS = [
  ...mutantsOf('main/model/leaf.ts', ['unit/model/leaf'], {
    'a leaf of six days is renewed at once, for ever':
      '[-Math.min(RENEWAL_LEFT_MS, (notAfterMs - notBeforeMs) / 3)-]{+RENEWAL_LEFT_MS+}',
  }),
  ...mutantsOf('main/domains/suspend.ts', ['unit/domains/suspend'], {
    'after the clock went back, the DNS is not looked at for years':
      '[-Math.min(nextCheckAtMs, nowMs + RECHECK_INTERVAL_MS)-]{+nextCheckAtMs+}',
    'after the clock went back, a leaf is not replaced before its beginning':
      'LEAF_LIFETIME_MS [-- RENEWAL_LEFT_MS -]+ DAY_MS',
  }),
  ...mutantsOf('main/domains/personas/personas.ts', ['unit/domains/hostname-machine'], {
    'a first certificate is given up later than after 30 minutes':
      '[-Math.min(nowMs + part.everyMs, sinceMs + lengthOf(rhythm))-]{+nowMs + part.everyMs+}',
    'attempts go on at the end of 30 minutes': 'nowMs - sinceMs <{+=+} untilMs',
  }),
  ...mutantsOf('main/domains/hostname-machine.ts', ['unit/domains/hostname-machine'], {
    'a certificate expires after its plan was lost and returned':
      "[-isHeld-]{+state === 'expired'+} ? step({ ...current, nextAttemptAtMs: current.renewAtMs }) : step(current)",
    'a jump of the clock lets a certificate expire instead of renewing it':
      "if (state === 'issued' && seriesAtMs === null{+ && (notAfterMs === null || atMs < notAfterMs)+}) return",
    'a renewal is tried every five minutes once more than 30 minutes have': 'atMs - seriesAtMs <{+=+} RETRIED_OFTEN_MS',
    'the retries after an expiry count from a renewal long ago': "state: 'expired'[-, seriesAtMs: null-] }",
  }),
  ...mutantsOf('main/domains/hostname-rules.ts', ['unit/domains/hostname-rules'], {
    "names below home.arpa can't be attached": "[-except: 'home.arpa', -]",
    "names below localhost can't be attached": '[-    only: true,\n-]',
  }),
  ...mutantsOf('main/domains/checks/apex-checks.ts', ['unit/domains/checks/verification'], {
    'an apex with an address elsewhere is verified':
      'found.[-filter((address) => !own.includes(address))-]{+some((address) => own.includes(address)) ? [] : found+}',
  }),
  ...mutantsOf('main/domains/suspend.ts', ['unit/domains/suspend', 'unit/domains/lifecycle'], {
    'a domain that moved while it was suspended is served': 'nextCheckAtMs: [-isLost ? null : nowMs-]{+null+}',
  }),
  ...mutantsOf('main/domains/hostname-machine.ts', ['unit/domains/hostname-machine'], {
    'a domain whose record was removed is pending again': 'hasFoundNothing[- && current.verifiedAtMs === null-]',
  }),
  ...mutantsOf('main/domains/issue.ts', ['unit/domains/lifecycle'], {
    'a leaf is issued that no client accepts':
      '[-if (suffix !== null) return refuse(suffix.code, suffix.message, checks);-]',
    'a certificate is issued although CAA could not be looked up': "if (gate.outcome [-!== 'ok-]{+=== 'failed+}')",
  }),
  ...mutantsOf(
    'main/domains/checks/resolution.ts',
    ['unit/domains/checks/observe', 'unit/domains/checks/verification'],
    { 'a chain of ten CNAMEs is too long': 'if (seen.size >{+=+} CNAME_HOPS_MAX)' },
  ),
  ...mutantsOf('main/domains/checks/verify.ts', ['unit/domains/lifecycle'], {
    'a record that has become visible is seen a day later': '[-Math.max(changesAtMs, nowMs + 1)-]{+Infinity+}',
    'a plan that is lost during an attempt is forgotten':
      'const then = [-current(domain)-]{+{ ...current(domain), state: before.state }+};',
  }),
  ...mutantsOf('main/domains/attach-rules.ts', ['unit/domains/hostname-rules'], {
    'somebody upgrades for a hostname that is in use':
      "[-useRefusal(verdict.hostname, facts) ?? (rules === 'all' ? projectRefusal(facts) : null)-]{+(rules === 'all' ? projectRefusal(facts) : null) ?? useRefusal(verdict.hostname, facts)+}",
  }),
  ...mutantsOf('main/domains/checks/verification.ts', ['unit/domains/checks/verification'], {
    'every domain is warned of a wildcard': 'addresses.[-length > 0 && addresses.-]every(',
  }),
  ...mutantsOf('main/contract/check-codes.ts', ['unit/domains/checks/verification', 'unit/domains/lifecycle'], {
    'a domain is misconfigured while its record is pending': "title: 'Not visible yet'[-, absent: true-]",
  }),
  ...mutantsOf('main/domains/redirects.ts', ['unit/domains/redirects'], {
    'two hostnames redirect to each other': '[-    if (name === from) return path;\n-]',
  }),
  ...mutantsOf('main/domains/checks/observe.ts', ['unit/domains/checks/observe'], {
    'a wildcard is overlooked below the longest names': 'return name.length >{+=+} HOSTNAME_LENGTH_MAX',
  }),
  ...mutantsOf('main/base/text/hostname.ts', ['unit/base/text/hostname'], {
    "the longest hostname can't be attached": 'hostname.length >{+=+} HOSTNAME_LENGTH_MAX',
  }),
  ...mutantsOf('main/domains/checks/resolution.ts', ['unit/domains/checks/observe'], {
    'a name without such records looks delegated':
      "[-  if (authority.some(({ data }) => data.type === 'SOA')) return null;\n-]",
  }),
  ...mutantsOf('main/domains/checks/verification.ts', ['unit/domains/personas/personas'], {
    'a hostname that its owner has reserved is given to another project':
      '...(refusal === undefined ? [] : [[-refusedCheck(hostname, refusal)-]]),',
    'a hostname whose addresses are those of all projects is given to any project that attaches it':
      '[- && observation.alias.chain.length > 0-]',
  }),
];
