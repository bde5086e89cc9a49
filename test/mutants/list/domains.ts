import { mutantsOf } from '../mutant.ts';

export const DOMAINS = [
  ...mutantsOf('main/model/leaf.ts', ['test/unit/model/leaf.test.ts'], {
    'domains.short-leaf-renewed-at-once': {
      find: 'Math.min(RENEWAL_LEFT_MS, (notAfterMs - notBeforeMs) / 3)',
      replace: 'RENEWAL_LEFT_MS',
      breaks: 'a leaf of six days is renewed at once, for ever',
    },
  }),
  ...mutantsOf('main/domains/suspend.ts', ['test/unit/domains/suspend.test.ts'], {
    'domains.check-stays-in-the-future': {
      find: 'Math.min(nextCheckAtMs, nowMs + RECHECK_INTERVAL_MS)',
      replace: 'nextCheckAtMs',
      breaks: 'after the clock went back, the DNS is not looked at for years',
    },
    'domains.leaf-of-the-future-is-kept': {
      find: 'LEAF_LIFETIME_MS - RENEWAL_LEFT_MS + DAY_MS',
      replace: 'LEAF_LIFETIME_MS + DAY_MS',
      breaks: 'after the clock went back, a leaf is not replaced before its beginning',
    },
  }),
  ...mutantsOf('main/domains/personas/personas.ts', ['test/unit/domains/certificate-machine.test.ts'], {
    'domains.no-attempt-at-the-end': {
      find: 'Math.min(nowMs + part.everyMs, sinceMs + lengthOf(rhythm))',
      replace: 'nowMs + part.everyMs',
      breaks: 'a first certificate is given up later than after 30 minutes',
    },
    'domains.given-up-after-30-minutes-and-more': {
      find: 'nowMs - sinceMs < untilMs',
      replace: 'nowMs - sinceMs <= untilMs',
      breaks: 'attempts go on at the end of 30 minutes',
    },
  }),
  ...mutantsOf('main/domains/hostname-machine.ts', ['test/unit/domains/certificate-machine.test.ts'], {
    'domains.no-renewal-after-the-plan-returned': {
      find: 'isHeld ? step({ ...current, nextAttemptAtMs: current.renewAtMs }) : step(current)',
      replace: "state === 'expired' ? step({ ...current, nextAttemptAtMs: current.renewAtMs }) : step(current)",
      breaks: 'a certificate expires after its plan was lost and returned',
    },
    'domains.expires-before-it-is-renewed': {
      find: "if (state === 'issued' && seriesAtMs === null) return",
      replace: "if (state === 'issued' && seriesAtMs === null && (notAfterMs === null || atMs < notAfterMs)) return",
      breaks: 'a jump of the clock lets a certificate expire instead of renewing it',
    },
    'domains.five-minutes-for-ever': {
      find: 'atMs - seriesAtMs < RETRIED_OFTEN_MS',
      replace: 'atMs - seriesAtMs <= RETRIED_OFTEN_MS',
      breaks: 'a renewal is tried every five minutes once more than 30 minutes have',
    },
    'domains.series-outlives-the-leaf': {
      find: "state: 'expired', seriesAtMs: null }",
      replace: "state: 'expired' }",
      breaks: 'the retries after an expiry count from a renewal long ago',
    },
  }),
  ...mutantsOf('main/domains/hostname-rules.ts', ['test/unit/domains/hostname-rules.test.ts'], {
    'domains.home-arpa-is-reserved': {
      find: "except: 'home.arpa', ",
      replace: '',
      breaks: "names below home.arpa can't be attached",
    },
    'domains.names-below-localhost-are-reserved': {
      find: '    only: true,\n',
      replace: '',
      breaks: "names below localhost can't be attached",
    },
  }),
  ...mutantsOf('main/domains/checks/apex-checks.ts', ['test/unit/domains/checks/verification.test.ts'], {
    'domains.stray-address-is-overlooked': {
      find: 'found.filter((address) => !own.includes(address))',
      replace: 'found.some((address) => own.includes(address)) ? [] : found',
      breaks: 'an apex with an address elsewhere is verified',
    },
  }),
  ...mutantsOf(
    'main/domains/suspend.ts',
    ['test/unit/domains/suspend.test.ts', 'test/unit/domains/lifecycle.test.ts'],
    {
      'domains.no-check-after-the-plan-returned': {
        find: 'nextCheckAtMs: isLost ? null : nowMs',
        replace: 'nextCheckAtMs: null',
        breaks: 'a domain that moved while it was suspended is served',
      },
    },
  ),
  ...mutantsOf('main/domains/hostname-machine.ts', ['test/unit/domains/hostname-machine.test.ts'], {
    'domains.pending-after-verified': {
      find: 'hasFoundNothing && current.verifiedAtMs === null',
      replace: 'hasFoundNothing',
      breaks: 'a domain whose record was removed is pending again',
    },
  }),
  ...mutantsOf('main/domains/issue.ts', ['test/unit/domains/lifecycle.test.ts'], {
    'domains.suffix-is-not-checked': {
      find: 'if (suffix !== null) return refuse(suffix.code, suffix.message, checks);',
      replace: '',
      breaks: 'a leaf is issued that no client accepts',
    },
    'domains.unknown-caa-issues': {
      find: "if (gate.outcome !== 'ok')",
      replace: "if (gate.outcome === 'failed')",
      breaks: 'a certificate is issued although CAA could not be looked up',
    },
  }),
  ...mutantsOf(
    'main/domains/checks/resolution.ts',
    ['test/unit/domains/checks/observe.test.ts', 'test/unit/domains/checks/verification.test.ts'],
    {
      'domains.one-cname-less': {
        find: 'if (seen.size > CNAME_HOPS_MAX)',
        replace: 'if (seen.size >= CNAME_HOPS_MAX)',
        breaks: 'a chain of ten CNAMEs is too long',
      },
    },
  ),
  ...mutantsOf('main/domains/checks/verify.ts', ['test/unit/domains/lifecycle.test.ts'], {
    'domains.record-on-its-way-is-checked-tomorrow': {
      find: 'Math.max(changesAtMs, nowMs + 1)',
      replace: 'Infinity',
      breaks: 'a record that has become visible is seen a day later',
    },
    'domains.issued-to-a-domain-as-it-was': {
      find: 'const then = current(domain);',
      replace: 'const then = { ...current(domain), state: before.state };',
      breaks: 'a plan that is lost during an attempt is forgotten',
    },
  }),
  ...mutantsOf('main/domains/attach-rules.ts', ['test/unit/domains/hostname-rules.test.ts'], {
    'domains.plan-before-hostname': {
      find: "useRefusal(verdict.hostname, facts) ?? (rules === 'all' ? projectRefusal(facts) : null)",
      replace: "(rules === 'all' ? projectRefusal(facts) : null) ?? useRefusal(verdict.hostname, facts)",
      breaks: 'somebody upgrades for a hostname that is in use',
    },
  }),
  ...mutantsOf('main/domains/checks/verification.ts', ['test/unit/domains/checks/verification.test.ts'], {
    'domains.wildcard-risk-without-a-wildcard': {
      find: 'addresses.length > 0 && addresses.every(',
      replace: 'addresses.every(',
      breaks: 'every domain is warned of a wildcard',
    },
  }),
  ...mutantsOf(
    'main/contract/check-codes.ts',
    ['test/unit/domains/checks/verification.test.ts', 'test/unit/domains/lifecycle.test.ts'],
    {
      'domains.not-propagated-is-misconfigured': {
        find: "title: 'Not visible yet', absent: true",
        replace: "title: 'Not visible yet'",
        breaks: 'a domain is misconfigured while its record is pending',
      },
    },
  ),
  ...mutantsOf('main/domains/redirects.ts', ['test/unit/domains/redirects.test.ts'], {
    'domains.redirect-loop': {
      find: '    if (name === from) return path;\n',
      replace: '',
      breaks: 'two hostnames redirect to each other',
    },
  }),
  ...mutantsOf('main/domains/checks/observe.ts', ['test/unit/domains/checks/observe.test.ts'], {
    'domains.no-sibling-of-253-characters': {
      find: 'return name.length > HOSTNAME_LENGTH_MAX',
      replace: 'return name.length >= HOSTNAME_LENGTH_MAX',
      breaks: 'a wildcard is overlooked below the longest names',
    },
  }),
  ...mutantsOf('main/base/text/hostname.ts', ['test/unit/base/text/hostname.test.ts'], {
    'domains.hostname-of-253-characters': {
      find: 'hostname.length > HOSTNAME_LENGTH_MAX',
      replace: 'hostname.length >= HOSTNAME_LENGTH_MAX',
      breaks: "the longest hostname can't be attached",
    },
  }),
  ...mutantsOf('main/domains/checks/resolution.ts', ['test/unit/domains/checks/observe.test.ts'], {
    'domains.no-data-is-a-referral': {
      find: "  if (authority.some(({ data }) => data.type === 'SOA')) return null;\n",
      replace: '',
      breaks: 'a name without such records looks delegated',
    },
  }),
  ...mutantsOf('main/domains/checks/verification.ts', ['test/unit/domains/personas/personas.test.ts'], {
    'domains.challenge-of-another-project-ignored': {
      find: '...(refusal === undefined ? [] : [refusedCheck(hostname, refusal)]),',
      replace: '...(refusal === undefined ? [] : []),',
      breaks: 'a hostname that its owner has reserved is given to another project',
    },
    'domains.shared-addresses-prove-a-claim': {
      find: ' && observation.alias.chain.length > 0',
      replace: '',
      breaks: 'a hostname whose addresses are those of all projects is given to any project that attaches it',
    },
  }),
];
