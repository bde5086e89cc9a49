import { describe, expect, it } from 'vitest';
import { caaLookupOver } from '../../../../main/domains/checks/resolution.ts';
import { explainCaa } from '../../../../main/model/caa/walk.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { dnsOver, LOCAL } from '../../domains/zones.ts';

/**
 * Every example of RFC 8659 and RFC 8657, but §3's (`verdict.test.ts`), each with the statement of the text around it.
 * Where the RFC uses one name for several record sets, each has its own here; RFC 8657's are `a1` to `a5`.
 */
const EXAMPLES = zoneOf(
  'example.com',
  `
  certs      CAA 0   issue     "ca1.example.net"
  certs      CAA 0   issue     "ca2.example.org"
  nocerts    CAA 0   issue     ";"
  malformed  CAA 0   issue     "%%%%%"
  account    CAA 0   issue     "ca1.example.net; account=230123"
  wild       CAA 0   issue     "ca1.example.net"
  wild       CAA 0   issuewild "ca2.example.org"
  wild2      CAA 0   issue     "ca1.example.net"
  wild3      CAA 0   issuewild "ca2.example.org"
  wild3      CAA 0   issue     ";"
  wild3-open CAA 0   issuewild "ca2.example.org"
  report     CAA 0   issue     "ca1.example.net"
  report     CAA 0   iodef     "mailto:security@example.com"
  report     CAA 0   iodef     "https://iodef.example.com/"
  new        CAA 0   issue     "ca1.example.net"
  new        CAA 128 tbs       "Unknown"
  a1         CAA 0   issue     "example.net; accounturi=https://example.net/account/1234"
  a1         CAA 0   issue     "example.net; accounturi=https://example.net/account/2345"
  a2         CAA 0   issue     "example.net; validationmethods=dns-01,xyz-01"
  a3         CAA 0   issue     "example.net; validationmethods=dns-01"
  a3         CAA 0   issue     "example.net; validationmethods=xyz-01"
  a4         CAA 0   issue     "example.net; accounturi=https://example.net/account/1234; validationmethods=dns-01"
  a4         CAA 0   issue     "example.net; accounturi=https://example.net/account/2345; validationmethods=http-01"
  a5         CAA 0   issue     "example.net; validationmethods=dns-01,ca-foo"
`,
);

const CA1 = 'ca1.example.net';
const CA2 = 'ca2.example.org';
const CA3 = 'ca3.example';

/** Which of the three CAs may issue. */
const RFC_8659: readonly [section: string, request: string, may: readonly string[]][] = [
  ['§4.2', 'certs', [CA1, CA2]],
  ['§4.2', 'nocerts', []],
  ['§4.2', 'malformed', []],
  ['§4.2', 'account', [CA1]],
  ['§4.3', 'wild', [CA1]],
  ['§4.3', 'sub.wild', [CA1]],
  ['§4.3', '*.wild', [CA2]],
  ['§4.3', '*.sub.wild', [CA2]],
  ['§4.3', 'wild2', [CA1]],
  ['§4.3', '*.wild2', [CA1]],
  ['§4.3', '*.sub.wild2', [CA1]],
  ['§4.3', '*.wild3', [CA2]],
  ['§4.3', '*.sub.wild3', [CA2]],
  ['§4.3', 'wild3', []],
  ['§4.3', 'sub.wild3', []],
  ['§4.3', '*.wild3-open', [CA2]],
  ['§4.3', '*.sub.wild3-open', [CA2]],
  ['§4.3', 'wild3-open', [CA1, CA2, CA3]],
  ['§4.3', 'sub.wild3-open', [CA1, CA2, CA3]],
  ['§4.4', 'report', [CA1]],
  ['§4.5', 'new', []],
];

const METHODS = ['dns-01', 'http-01', 'xyz-01', 'ca-foo'];
const ACCOUNTS = ['1234', '2345', '3456'];

/** Which accounts of example.net may issue by which methods. */
const RFC_8657: readonly [name: string, accounts: readonly string[], methods: readonly string[]][] = [
  ['a1', ['1234', '2345'], METHODS],
  ['a2', ACCOUNTS, ['dns-01', 'xyz-01']],
  ['a3', ACCOUNTS, ['dns-01', 'xyz-01']],
  ['a4', ['1234'], ['dns-01']],
  ['a4', ['2345'], ['http-01']],
  ['a5', ACCOUNTS, ['dns-01', 'ca-foo']],
];

const lookup = caaLookupOver(dnsOver([EXAMPLES], {}, LOCAL));

async function isAllowed(request: { name: string; issuer: string; method?: string; account?: string }) {
  const { name, issuer, method = 'http-01', account } = request;
  const accountUri = account === undefined ? null : `https://example.net/account/${account}`;
  const { verdict } = await explainCaa({ hostname: `${name}.example.com`, issuer, method, accountUri, lookup });
  return verdict === 'allowed';
}

it.each(RFC_8659)('the example of RFC 8659 %s: for %s.example.com, %j may issue', async (_section, name, may) => {
  const allowed = await Promise.all([CA1, CA2, CA3].map((issuer) => isAllowed({ name, issuer })));
  expect([CA1, CA2, CA3].filter((_issuer, index) => allowed[index])).toEqual(may);
});

describe('the examples of RFC 8657, appendix A', () => {
  const pairs = ACCOUNTS.flatMap((account) => METHODS.map((method) => ({ account, method })));

  it.each(['a1', 'a2', 'a3', 'a4', 'a5'])('%s permits the accounts and methods that it names', async (name) => {
    const rules = RFC_8657.filter(([of]) => of === name);
    const wanted = pairs.filter(({ account, method }) =>
      rules.some(([, accounts, methods]) => accounts.includes(account) && methods.includes(method)),
    );
    const allowed = await Promise.all(pairs.map((pair) => isAllowed({ name, issuer: 'example.net', ...pair })));
    expect(pairs.filter((_pair, index) => allowed[index])).toEqual(wanted);
    expect(await isAllowed({ name, issuer: 'other.example', method: 'dns-01', account: '1234' })).toBe(false);
  });
});
