import { describe, expect, it } from 'vitest';
import type { PersonaId } from '../../../../main/contract/provider-table.ts';
import { hasFoundNothing, verdictOf, instructionsFor, recordText } from '../../../../main/domains/checks/checks.ts';
import { claimOf, foreignProofs, isProven, rivalOf, slipOf } from '../../../../main/domains/personas/claims.ts';
import type { Claimant, DomainRules, Rival } from '../../../../main/domains/personas/claims.ts';
import { observe } from '../../../../main/domains/checks/observe.ts';
import { personaOf, worded } from '../../../../main/domains/personas/provider.ts';
import { PERSONAS, nextTry } from '../../../../main/domains/personas/personas.ts';
import { kindOf } from '../../../../main/domains/public-suffix.ts';
import { evaluate } from '../../../../main/domains/checks/verification.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { carelessZone, dnsOver, type Failures } from '../zones.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const SHARED = 'cname.vivarium.localhost';
const A: Claimant = { id: 'prj_a', name: 'A', slug: 'a' };
const B: Claimant = { id: 'prj_b', name: 'B', slug: 'b' };
const NAMES = `cname A 127.0.0.1\na A 127.0.0.1\nb A 127.0.0.1`;
const PLATFORM = zoneOf('vivarium.localhost', NAMES);

interface Asked {
  persona: PersonaId;
  hostname?: string;
  /** The project that has the hostname. */
  project?: Claimant;
  rival?: Rival | null;
  others?: readonly Claimant[];
  verifiedBefore?: boolean;
  failures?: Failures;
}

function rulesOf({ persona: id, hostname = 'shop.acme.test', project = A, ...asked }: Asked): DomainRules {
  const persona = PERSONAS[id];
  const cnameTarget = persona.target === 'shared' ? SHARED : `${project.slug}.vivarium.localhost`;
  const facts = { hostname, project, verifiedBefore: asked.verifiedBefore ?? false, rival: asked.rival ?? null };
  const claim = claimOf(persona, facts);
  const foreign = foreignProofs(persona, hostname, () => asked.others ?? []);
  return { persona, cnameTarget, claim: claim === null ? null : { ...claim, foreign } };
}

/** The records of the instructions, as lines of the zone `acme.test`. */
const wantedLines = (asked: Asked): string[] => {
  const { hostname = 'shop.acme.test' } = asked;
  return instructionsFor(hostname, kindOf(hostname), rulesOf(asked)).map((instruction) =>
    recordText(instruction.type === 'TXT' ? { ...instruction, value: `"${instruction.value}"` } : instruction).replace(
      /(\.localhost)$/,
      '$1.',
    ),
  );
};

/** `code outcome` of all checks except the passed ones, or `ok`; and the text of the first. */
async function verify(lines: readonly string[], asked: Asked) {
  const { hostname = 'shop.acme.test', failures } = asked;
  const kind = kindOf(hostname);
  const rules = rulesOf(asked);
  const dns = dnsOver([PLATFORM, carelessZone('acme.test', lines.join('\n'))], failures);
  const proofNames = [...(rules.claim?.proofs ?? []), ...(rules.claim?.foreign ?? [])].map(({ name }) => name);
  const randomLabel = () => 'random';
  const observation = await observe(dns, { hostname, kind, cnameTarget: rules.cnameTarget, randomLabel, proofNames });
  const verifiedBefore = asked.verifiedBefore ?? false;
  const checks = evaluate(observation, { ...rules, kind, verifiedBefore, provider: null });
  const wrong = checks.filter(({ outcome }) => outcome !== 'ok');
  return {
    verdict: verdictOf(checks),
    pending: hasFoundNothing(checks),
    codes: wrong.map(({ code, outcome }) => `${code} ${outcome}`),
    words: wrong.map((check) => worded(check, rules.persona, hostname).words),
    messages: wrong.map(({ message }) => message),
  };
}

const RIVAL: Rival = { domain: 'acme.test', above: 'acme.test', project: 'B' };

const LEADS = 'shop CNAME a.vivarium.localhost';
const hex = (length: number) => `[0-9a-f]{${length}}`;
const UUID = `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
const CHALLENGE = `_github-pages-challenge-a TXT "${hex(30)}"`;

describe('the records that a persona requires', () => {
  it.each<[Asked, string[]]>([
    [{ persona: 'animal-store' }, [`shop CNAME ${SHARED}`]],
    [{ persona: 'animal-store', rival: RIVAL }, [`shop CNAME ${SHARED}`]],
    [{ persona: 'animal-store', hostname: 'acme.test' }, [`@ ALIAS ${SHARED}`]],
    [{ persona: 'vercel' }, [`shop CNAME ${SHARED}`]],
    [
      { persona: 'vercel', rival: RIVAL },
      [`shop CNAME ${SHARED}`, `_vercel TXT "vc-domain-verify=shop\\.acme\\.test,${hex(20)}"`],
    ],
    [{ persona: 'vercel', rival: RIVAL, verifiedBefore: true }, [`shop CNAME ${SHARED}`]],
    [{ persona: 'vercel', hostname: 'acme.test' }, ['@ A 127.0.0.1']],
    [{ persona: 'netlify' }, [LEADS]],
    [{ persona: 'netlify', hostname: 'acme.test' }, ['@ A 127.0.0.1']],
    [{ persona: 'github-pages' }, [LEADS, CHALLENGE]],
    [{ persona: 'github-pages', hostname: 'acme.test' }, ['@ A 127.0.0.1', CHALLENGE]],
    [{ persona: 'cloudflare' }, [LEADS, `_cf-custom-hostname.shop TXT "${UUID}"`]],
    [
      { persona: 'mintlify', hostname: '*.acme.test' },
      [`\\* CNAME ${SHARED}`, `_cf-custom-hostname TXT "${UUID}"`, `_acme-challenge TXT "${hex(43)}"`],
    ],
    [{ persona: 'fly' }, [LEADS, `_fly-ownership.shop TXT "app-${hex(10)}"`]],
    [{ persona: 'render', rival: RIVAL }, [LEADS]],
    [{ persona: 'railway' }, [LEADS, `_railway-verify.shop TXT "railway-verify=${hex(64)}"`]],
    [{ persona: 'fly', hostname: 'acme.test' }, ['@ A 127.0.0.1', `_fly-ownership TXT "app-${hex(10)}"`]],
  ])('%o', (asked, patterns) => {
    const lines = wantedLines(asked).map((line) => line.replace(/\.$/, ''));
    expect(lines).toEqual(patterns.map((pattern) => expect.stringMatching(new RegExp(`^${pattern}$`)) as unknown));
  });

  it.each(Object.keys(PERSONAS) as PersonaId[])('%s is satisfied by its own instructions', async (persona) => {
    for (const hostname of ['shop.acme.test', 'acme.test', '*.acme.test', 'a.b.acme.test']) {
      for (const rival of [null, RIVAL]) {
        const asked = { persona, hostname, rival: hostname === 'acme.test' ? null : rival };
        // The address stands for an ALIAS, which a careless zone does not answer.
        const lines = wantedLines(asked).map((line) => line.replace(/ALIAS .*/, 'A 127.0.0.1'));
        expect([asked, (await verify(lines, asked)).verdict]).toEqual([asked, 'ok']);
      }
    }
  });

  it('omit proofs whose name would be too long for the DNS', () => {
    const hostname = `${'a.'.repeat(120)}acme.test`;
    expect(rulesOf({ persona: 'cloudflare', hostname }).claim).toBeNull();
    const { claim } = rulesOf({ persona: 'github-pages', project: { ...A, slug: 'x'.repeat(55) } });
    const lengths = claim?.proofs.flatMap(({ name }) => name.split('.').map((label) => label.length)) ?? [];
    expect(Math.max(...lengths)).toBe(63);
  });
});

const own = (name: string) => `shop CNAME ${name}.vivarium.localhost.`;

describe('the verdict of a persona', () => {
  type Fact = [fact: string, zone: string[], codes: string[], more?: Partial<Asked> & { words?: string }];
  const txt = (asked: Asked): string => wantedLines(asked).find((line) => line.includes(' TXT ')) ?? '';
  const contested: Asked = { persona: 'vercel', rival: RIVAL };
  const unanswered: Asked = { ...contested, failures: { '_vercel.acme.test': 'SERVFAIL' } };
  const before = { verifiedBefore: true };
  const CNAME = own('cname');
  const proof = txt(contested);
  const challengeOfB = txt({ persona: 'github-pages', project: B });
  const NO_TXT = 'txt_missing failed';
  const NO_TXT_YET = 'txt_missing warning';
  const UNPROVEN = ['claimed_elsewhere warning', NO_TXT];
  const facts: Partial<Record<PersonaId, Fact[]>> = {
    vercel: [
      ['nothing yet', ['@ MX 10 m'], ['no_record failed'], { words: 'Invalid Configuration' }],
      ['the platform’s address', ['shop A 127.0.0.1'], []],
      ['another address', ['shop A 192.0.2.1'], ['a_conflict failed'], { words: 'Invalid Configuration' }],
      ['an address beside the right one', ['shop A 127.0.0.1', 'shop A 192.0.2.1'], ['a_conflict failed']],
      ['a domain above of another project', [CNAME], UNPROVEN, contested],
      ['the TXT record among other strings', [CNAME, '_vercel TXT "other"', proof], [], contested],
      ['spaces around it', [CNAME, proof.replace(/"(.*)"/, '" $1 "')], [], contested],
      ['the text in two strings', [CNAME, proof.replace('=shop', '=" "shop')], [], contested],
      ['the text in capitals', [CNAME, proof.replace(/".*"/, (text) => text.toUpperCase())], UNPROVEN, contested],
      ['the TXT record of another project', [CNAME, txt({ ...contested, project: B })], UNPROVEN, contested],
      ['no answer about the TXT record', [CNAME], ['lookup_failed unknown', 'claimed_elsewhere warning'], unanswered],
      ['a TXT record removed after verification', [CNAME], [], { ...contested, ...before }],
    ],
    netlify: [
      ['an address in place of a CNAME', ['shop A 127.0.0.1'], ['a_conflict failed']],
      ['the name of another project', [own('b')], []],
      ['the name of no project', [own('gone')], ['stale_target failed']],
    ],
    'github-pages': [
      [
        'another name',
        ['shop CNAME elsewhere.example.'],
        ['wrong_target failed', NO_TXT_YET],
        { words: 'InvalidCNAMEError' },
      ],
      ['an address', ['shop A 127.0.0.1'], ['a_conflict failed', NO_TXT_YET], { words: 'InvalidARecordError' }],
      ['no challenge', [own('a')], [NO_TXT_YET]],
      ['that of another above', [own('a'), challengeOfB], ['claimed_elsewhere failed', NO_TXT_YET], { others: [B] }],
      ['a challenge of the project itself', [own('a'), txt({ persona: 'github-pages' })], [], { others: [B] }],
      ['a wrong text in another’s', [own('a'), '_github-pages-challenge-b TXT "0"'], [NO_TXT_YET], { others: [B] }],
    ],
    cloudflare: [
      ['a CNAME to the project', [own('a')], []],
      [
        'a CNAME to another project',
        [own('b')],
        ['wrong_target failed', NO_TXT],
        { words: 'custom hostname does not CNAME to this zone.' },
      ],
      ['the TXT record before the CNAME', [own('b'), txt({ persona: 'cloudflare' })], ['wrong_target warning']],
      ['an apex without the TXT record', ['@ A 127.0.0.1'], [NO_TXT], { hostname: 'acme.test' }],
    ],
    mintlify: [
      ['no TXT records', [CNAME], [NO_TXT, NO_TXT]],
      ['one of two TXT records', [CNAME, txt({ persona: 'mintlify' })], [NO_TXT]],
      ['TXT records removed after verification', [CNAME], [NO_TXT_YET, NO_TXT_YET], before],
    ],
    railway: [
      ['no TXT record', [own('a')], [NO_TXT]],
      ['the TXT record of another project', [own('a'), txt({ persona: 'railway', project: B })], [NO_TXT]],
      ['a TXT record removed after verification', [own('a')], [NO_TXT_YET], before],
    ],
    render: [
      ['a CNAME to the service', [own('a')], []],
      ['a domain above of another project', [own('a')], [], { rival: RIVAL }],
      ['an address', ['shop A 127.0.0.1'], ['a_conflict failed']],
    ],
    fly: [
      ['a CNAME to the app', [own('a')], []],
      ['a CNAME to another app', [own('b')], ['wrong_target failed', NO_TXT]],
      ['the addresses, which are those of all apps', ['shop A 127.0.0.1'], [NO_TXT]],
      ['the addresses and the TXT record', ['shop A 127.0.0.1', txt({ persona: 'fly' })], []],
      ['the TXT record, and records that lead elsewhere', [own('b'), txt({ persona: 'fly' })], ['wrong_target failed']],
      ['addresses without a TXT record after verification', ['shop A 127.0.0.1'], [NO_TXT_YET], before],
    ],
  };
  /** Nothing but a missing record stands in the way. */
  const isPending = (codes: readonly string[]): boolean =>
    codes.some((code) => / (failed|unknown)$/.test(code)) &&
    codes.every((code) => !code.endsWith(' failed') || /^(no_record|txt_missing) /.test(code));

  describe.each(Object.entries(facts) as [PersonaId, Fact[]][])('%s', (persona, rows) => {
    it.each(rows)('%s', async (_fact, zone, codes, { words, ...asked } = {}) => {
      const seen = await verify(zone, { persona, ...asked });
      expect(seen).toMatchObject({ codes, pending: isPending(codes) });
      if (words !== undefined) expect(seen.words[0]).toBe(words);
    });
  });

  it.each([
    ['abc', ['abc'], true, ''],
    ['abc', ['x', ' abc\t'], true, ''],
    ['abc', ['ABC'], false, ' It differs in case only.'],
    ['abc', ['"abc"'], false, ' It has quotation marks or spaces in it.'],
    ['abc', ['ab c'], false, ' It has quotation marks or spaces in it.'],
    ['abc', ['abcd'], false, ''],
    ['abc', [], false, ''],
  ])('%s in %j: %s', (value, texts, proven, slip) => {
    expect(isProven(value, texts)).toBe(proven);
    if (!proven) expect(slipOf(value, texts)).toBe(slip);
  });
});

describe('a takeover: A removed the hostname, its record still leads to the platform, and B attaches it', () => {
  /** What A left behind, and the result of B's verification. */
  const left = (persona: PersonaId, name: string, isClaimed: boolean): string[] => {
    const ofA: Asked = { persona, hostname: 'shop.acme.test', project: A, rival: RIVAL };
    const [leading = '', ...proofs] = wantedLines(ofA);
    return [leading.replace(/^shop/, name), ...(isClaimed ? proofs : [])];
  };
  it.each<[PersonaId, unclaimed: string, claimed: string]>([
    ['animal-store', 'ok', 'ok'],
    ['vercel', 'ok', 'ok'],
    ['netlify', 'ok', 'ok'],
    ['github-pages', 'ok', 'failed'],
    ['cloudflare', 'failed', 'failed'],
    ['mintlify', 'failed', 'failed'],
    ['fly', 'failed', 'failed'],
    ['render', 'failed', 'failed'],
    ['railway', 'failed', 'failed'],
  ])('%s: %s, and %s if the TXT records of A remain', async (persona, unclaimed, claimed) => {
    for (const name of ['shop', '*']) {
      const verdict = async (isClaimed: boolean) =>
        (await verify(left(persona, name, isClaimed), { persona, project: B, others: [A] })).verdict;
      expect([name, await verdict(false), await verdict(true)]).toEqual([name, unclaimed, claimed]);
    }
  });

  it('names a wildcard over it before the domain above', () => {
    expect(rivalOf('shop.acme.test', B.id, () => A)?.domain).toBe('*.acme.test');
  });

  it('is refused by Vercel while A has the domain above or a wildcard over it', async () => {
    for (const domain of ['acme.test', '*.acme.test']) {
      const rival = { domain, above: 'acme.test', project: 'A' };
      expect(await verify(left('vercel', '*', true), { persona: 'vercel', project: B, rival })).toMatchObject({
        verdict: 'failed',
        words: expect.arrayContaining(['pending_domain_verification']) as unknown,
      });
    }
  });
});

describe('the schedule of a persona', () => {
  /** How many tries a hostname or certificate gets that never succeeds, the first waits, and when it is given up. */
  function tries(rhythm: NonNullable<(typeof PERSONAS)['vercel']['checks']>, most = 1_000) {
    const atMs: number[] = [];
    for (let next = nextTry(rhythm, 0, 0); next !== null && atMs.length < most; next = nextTry(rhythm, 0, next)) {
      atMs.push(next);
    }
    return { count: atMs.length, first: atMs.slice(0, 3), lastMs: atMs.at(-1) ?? 0, atMs };
  }

  it('of Netlify is ten minutes for a day, then an hour for two', () => {
    const { count, first, lastMs } = tries(PERSONAS.netlify.issuance);
    expect([count, first, lastMs]).toEqual([144 + 48, [10 * MINUTE, 20 * MINUTE, 30 * MINUTE], 3 * DAY]);
    expect(PERSONAS.netlify.checks).toBe(PERSONAS.netlify.issuance);
  });

  it('of Cloudflare is 75 tries in seven days, with waits of four hours at most', () => {
    const { count, atMs, lastMs } = tries(PERSONAS.cloudflare.checks ?? []);
    const waits = atMs.map((at, index) => (at - (atMs[index - 1] ?? 0)) / 1_000);
    expect(count).toBe(75);
    expect([0, 1, 10, 39, 40, 74].map((at) => waits[at])).toEqual([60, 63, 242, 13_975, 14_400, 14_400]);
    expect(Math.round(lastMs / DAY)).toBe(7);
  });

  it('of Vercel is 20 seconds for ten minutes, then a day, without an end', () => {
    const { count, atMs } = tries(PERSONAS.vercel.checks ?? [], 40);
    const days = [10 * MINUTE + DAY, 10 * MINUTE + 10 * DAY];
    expect([count, ...[0, 29, 30, 39].map((at) => atMs[at])]).toEqual([40, 20_000, 10 * MINUTE, ...days]);
  });

  it('of Mintlify is five minutes for an hour, then an hour for the rest of 48', () => {
    const { count, lastMs } = tries(PERSONAS.mintlify.checks ?? []);
    expect([count, lastMs]).toEqual([12 + 47, 2 * DAY]);
    for (const id of ['mintlify', 'github-pages'] as const) expect(tries(PERSONAS[id].issuance).lastMs).toBe(DAY);
  });

  it('is the platform’s own if a provider publishes none', () => {
    expect([PERSONAS['animal-store'].checks, PERSONAS['github-pages'].checks]).toEqual([null, null]);
    expect(tries(PERSONAS.vercel.issuance)).toMatchObject({ count: 6, lastMs: 30 * MINUTE });
  });
});

describe('the wording of a persona', () => {
  const facts = { checks: [], verifiedAtMs: 1, lastCheckedAtMs: 1, nextCheckAtMs: 2 };
  const none = { state: 'none', refusal: null } as const;
  const verified = { ...facts, state: 'verified' } as const;
  const pending = { ...facts, state: 'pending', verifiedAtMs: null, certificate: none } as const;
  const misconfigured = { ...facts, state: 'misconfigured' } as const;
  const missing = { code: 'txt_missing', outcome: 'failed', message: '' } as const;
  const wrong = { ...missing, code: 'wrong_target' } as const;
  const expired = { state: 'expired', refusal: null } as const;
  const domains = {
    unchecked: { ...pending, lastCheckedAtMs: null },
    unproven: { ...pending, checks: [missing] },
    wrong: { ...misconfigured, verifiedAtMs: null, checks: [wrong, missing], certificate: none },
    verified: { ...verified, certificate: { state: 'issued', refusal: null } },
    moved: { ...misconfigured, checks: [wrong], certificate: expired },
    over: { ...pending, nextCheckAtMs: null },
    suspended: { ...facts, state: 'suspended', nextCheckAtMs: null, certificate: none },
    refused: { ...verified, certificate: { state: 'pending', refusal: { code: 'caa_forbids', message: '' } } },
  } satisfies Record<string, Parameters<typeof personaOf>[1]>;

  it('does not exist for the platform’s own', () => {
    expect(personaOf(PERSONAS['animal-store'], domains.wrong)).toBeUndefined();
  });

  it.each<[keyof typeof domains, vercel: string, githubPages: string, cloudflare: string]>([
    ['unchecked', 'Invalid Configuration', 'DNS Check in Progress', 'Pending, Initializing'],
    ['unproven', 'Pending Verification', '-', 'Pending, Initializing'],
    ['wrong', 'Invalid Configuration', 'DNS check unsuccessful', 'Pending, Initializing'],
    ['verified', 'Valid Configuration', 'DNS check successful, approved', 'Active, Active'],
    ['moved', 'Invalid Configuration', 'DNS check unsuccessful', 'Moved, expired'],
    ['over', 'Invalid Configuration, given up', 'DNS check unsuccessful, given up', 'Moved, Initializing, given up'],
    ['suspended', '-', '-', '-, Initializing'],
    ['refused', 'Valid Configuration', 'DNS check successful, Certificate Request Error', 'Active, Pending Validation'],
  ])('of a domain that is %s: %s at Vercel, %s at GitHub Pages, %s at Cloudflare', (name, ...words) => {
    const said = (['vercel', 'github-pages', 'cloudflare'] as const).map((id) => {
      const { state = '-', certificate, givenUp = false } = personaOf(PERSONAS[id], domains[name]) ?? {};
      return [state, ...(certificate === undefined ? [] : [certificate]), ...(givenUp ? ['given up'] : [])].join(', ');
    });
    expect(said).toEqual(words);
  });
});
