import { describe, expect, it } from 'vitest';
import { evaluateAttach, type AttachFacts } from '../../../main/domains/attach-rules.ts';
import { evaluateHostname, type HostnameRule } from '../../../main/domains/hostname-rules.ts';
import { PERSONAS } from '../../../main/domains/personas/personas.ts';
import { instructionsFor, recordText } from '../../../main/domains/checks/checks.ts';

/** A refusal with parts of its texts. */
const refusal = (code: string, rule: string, says: string, fix: string) => ({
  ok: false,
  refusal: {
    ...{ code, rule, message: expect.stringContaining(says) as unknown },
    fix: expect.stringContaining(fix) as unknown,
  },
});

describe('a hostname that can be attached', () => {
  /** What is written, and what of it the apex is: the whole, unless something comes before it; and its form in ASCII. */
  const cases: [text: string, apex: string, hostname?: string][] = [
    ['www.example.test', 'example.test'],
    ['example.test', 'example.test'],
    ['a.b.c.example.test', 'example.test'],
    ['WWW.Example.TEST.', 'example.test', 'www.example.test'],
    ['  www.example.test\n', 'example.test', 'www.example.test'],
    ['shop.localhost', 'shop.localhost'],
    ['www.shop.localhost', 'shop.localhost'],
    ['shop.internal', 'shop.internal'],
    ['shop.example', 'shop.example'],
    ['example.com', 'example.com'],
    ['example.co.uk', 'example.co.uk'],
    ['www.example.co.uk', 'example.co.uk'],
    ['city.kawasaki.jp', 'city.kawasaki.jp'],
    ['www.city.kawasaki.jp', 'city.kawasaki.jp'],
    ['shop.other.kawasaki.jp', 'shop.other.kawasaki.jp'],
    ['www.ck', 'www.ck'],
    ['host.home.arpa', 'host.home.arpa'],
    // The private section of the list: registrants there have a zone; the suffix itself is a registered name.
    ['shop.eu.org', 'shop.eu.org'],
    ['shop.github.io', 'shop.github.io'],
    ['github.io', 'github.io'],
    ['Bücher.example', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['www.食狮.公司.cn', 'xn--85x722f.xn--55qx5d.cn', 'www.xn--85x722f.xn--55qx5d.cn'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['1.2.3.test', '3.test'],
    [`${'a'.repeat(63)}.test`, `${'a'.repeat(63)}.test`],
    ['my-vivarium.localhost', 'my-vivarium.localhost'],
    ['notlocal.test', 'notlocal.test'],
  ];
  it.each(cases)('%j', (text, apex, hostname = text) => {
    const kind = hostname === apex ? 'apex' : 'subdomain';
    expect(evaluateHostname(text)).toEqual({ ok: true, hostname, kind, apex });
  });
});

describe('a hostname that cannot be attached', () => {
  const invalid: [text: string, rule: HostnameRule, says: string, fix: string][] = [
    ['', 'empty', 'empty', 'www.example.test'],
    ['.', 'empty', 'empty', 'www.example.test'],
    ['127.0.0.1', 'address', 'is an IP address', 'www.example.test'],
    ['::1', 'address', 'is an IP address', 'www.example.test'],
    ['[2001:db8::1]', 'address', 'is an IP address', 'www.example.test'],
    ['*', 'wildcard', 'the whole first label', '*.example.test'],
    ['w*.example.test', 'wildcard', 'the whole first label', 'one by one'],
    ['*.*.example.test', 'wildcard', 'the whole first label', 'one by one'],
    ['a.*.example.test', 'wildcard', 'the whole first label', 'one by one'],
    ['*.test', 'single_label', 'single label', 'two labels'],
    ['*.co.uk', 'public_suffix', 'is a public suffix', 'registered below it'],
    ['*.192.0.2.1', 'address', 'is an IP address', 'Attach a hostname'],
    ['https://www.example.test/shop', 'url', 'more than a hostname', 'Write only www.example.test.'],
    ['www.example.test:8443', 'url', 'more than a hostname', 'Write only www.example.test.'],
    ['www.example.test/', 'url', 'more than a hostname', 'Write only www.example.test.'],
    ['me@example.test', 'url', 'more than a hostname', 'Write only example.test.'],
    ['http://[::1]/', 'url', 'more than a hostname', 'Write the hostname alone'],
    ['://', 'url', 'more than a hostname', 'Write the hostname alone'],
    ['www..example.test', 'empty_label', 'two dots', 'exactly one dot'],
    ['.example.test', 'empty_label', 'two dots', 'exactly one dot'],
    ['example.test..', 'empty_label', 'two dots', 'exactly one dot'],
    [`${'a'.repeat(64)}.test`, 'label_too_long', 'has 64 characters; the maximum is 63', 'Shorten'],
    [`${'a.'.repeat(126)}test`, 'too_long', 'more than 253', 'Leave out'],
    ['my_shop.example.test', 'bad_character', 'contains an underscore', 'hyphen instead'],
    ['my shop.example.test', 'bad_character', 'contains a space', 'Remove it'],
    ['shop,example.test', 'bad_character', 'contains ","', 'Remove it'],
    ['a\u200d.test', 'not_text', 'internationalised', 'xn--'],
    ['-shop.test', 'hyphen_at_edge', '"-shop" begins or ends with a hyphen', 'between'],
    ['shop-.test', 'hyphen_at_edge', '"shop-"', 'between'],
    ['www.example.123', 'all_numeric', 'IPv4', '.test'],
    ['256.256.256.256', 'all_numeric', 'IPv4', '.test'],
    ['www.example.0x1F', 'all_numeric', 'IPv4', '.test'],
    ['a\u001b\n.test', 'bad_character', 'The label "a\\u{1b}\\u{a}" contains "\\u{1b}"', 'Remove it.'],
    ['a\u200d.test', 'not_text', '"a\\u{200d}.test"', 'one script'],
    ['xn--a.test', 'bad_a_label', 'does not decode', 'its own script'],
    ['xn--abc-.test', 'hyphen_at_edge', '"xn--abc-"', 'between'],
    ['ab--c.test', 'reserved_label', 'third and fourth', 'ab-c'],
    ['shop', 'single_label', 'single label', 'shop.shop'],
    ['test', 'single_label', 'single label', 'shop.test'],
    ['com', 'single_label', 'single label', 'shop.com'],
    ['co.uk', 'public_suffix', 'public suffix', 'shop.co.uk'],
    ['公司.cn', 'public_suffix', 'public suffix', 'shop.xn--55qx5d.cn'],
    ['example.ck', 'public_suffix', 'public suffix', 'shop.example.ck'],
    ['home.arpa', 'public_suffix', 'public suffix', 'shop.home.arpa'],
  ];
  it.each(invalid)('%j: %s', (text, rule, says, fix) => {
    expect(evaluateHostname(text)).toMatchObject(refusal('hostname_invalid', rule, says, fix));
  });

  it.each([
    ['belongs to the platform', ['vivarium.localhost', 'demo.Vivarium.localhost', 'cname.vivarium.localhost']],
    ['RFC 6761 §6.3', ['localhost', 'localhost.']],
    ['RFC 6761 §6.4', ['www.example.invalid', 'invalid']],
    ['RFC 6762', ['printer.local']],
    ['RFC 7686', ['expyuzz4wqqyqhjn.onion']],
    ['RFC 9476', ['name.alt']],
    ['IPv4', ['1.0.0.127.in-addr.arpa']],
    ['IPv6', ['8.b.d.0.1.0.0.2.ip6.arpa']],
    ['RFC 3172', ['e164.arpa']],
  ])('of a reserved name says “%s”: %j', (says, texts) => {
    for (const text of texts)
      expect(evaluateHostname(text)).toMatchObject(refusal('hostname_reserved', 'reserved', says, ''));
  });

  it('is quoted only in part when it is long', () => {
    const verdict = evaluateHostname(`*.${'x'.repeat(900)}`);
    expect(verdict.ok ? '' : verdict.refusal.message).toContain(`${'x'.repeat(98)}…"`);
  });
});

describe('attaching', () => {
  const project: AttachFacts['project'] = {
    ...{ id: 'p1', name: 'Shop', slug: 'shop', plan: 'pro', persona: 'animal-store', deployed: true },
  };
  const holders = new Map([
    ['taken.example.test', { id: 'p2', name: 'Other' }],
    ['mine.example.test', { id: 'p1', name: 'Shop' }],
  ]);
  const facts: AttachFacts = { project, holderOf: (hostname) => holders.get(hostname) ?? null };
  const undeployed: AttachFacts = { ...facts, project: { ...project, deployed: false } };
  const free: AttachFacts = { ...facts, project: { ...project, plan: 'free', deployed: false } };

  const cases: [fact: string, text: string, facts: AttachFacts, code: string, rule: string][] = [
    ['a wrong name is told before anything else', 'w*.test', free, 'hostname_invalid', 'wildcard'],
    ['a reserved name too', 'localhost', free, 'hostname_reserved', 'reserved'],
    ['a name of another project', 'Taken.example.test.', free, 'in_use', 'other_project'],
    ['a name of this project', 'mine.example.test', facts, 'in_use', 'same_project'],
    ['the plan comes before the deploy', 'www.example.test', free, 'plan_required', 'plan'],
    ['a deploy is needed', 'a.test', undeployed, 'deploy_required', 'deploy'],
  ];
  it.each(cases)('%s', (_fact, text, given, code, rule) => {
    const verdict = evaluateAttach(text, given);
    expect(verdict).toMatchObject({ ok: false, refusal: { code, rule } });
    expect(verdict.ok ? [] : [verdict.refusal.message, verdict.refusal.fix]).not.toContain('');
  });

  it.each(['pro', 'business', 'enterprise'] as const)('is possible on %s', (plan) => {
    const verdict = evaluateAttach('WWW.example.test', { ...facts, project: { ...project, plan } });
    expect(verdict).toEqual({ ok: true, hostname: 'www.example.test', kind: 'subdomain', apex: 'example.test' });
  });
});

describe('instructions', () => {
  const target = 'cname.vivarium.localhost';
  const rules = { persona: PERSONAS['animal-store'], cnameTarget: target, claim: null };
  const zone = (name: string, supportsAlias = true) => ({ zone: name, supportsAlias });

  it('for a subdomain are a CNAME at its label', () => {
    expect(instructionsFor('www.example.test', 'subdomain', rules)).toEqual([
      { type: 'CNAME', name: 'www', value: target, ttl: 3600 },
    ]);
  });

  it('for an apex are an ALIAS at @, or ANAME', () => {
    expect(instructionsFor('example.test', 'apex', rules)).toEqual([
      { type: 'ALIAS', name: '@', value: target, ttl: 3600, note: expect.stringContaining('ANAME') as unknown },
    ]);
  });

  it('are relative to the zone if it is known', () => {
    const lines = (hostname: string, name: string | null) =>
      instructionsFor(hostname, 'subdomain', rules, name === null ? null : zone(name)).map(recordText);
    expect(lines('a.b.example.test', null)).toEqual([`a.b CNAME ${target}`]);
    expect(lines('a.b.example.test', 'b.example.test')).toEqual([`a CNAME ${target}`]);
    expect(lines('a.b.example.test', 'test')).toEqual([`a.b.example CNAME ${target}`]);
  });

  it('tell what to do if the provider has no ALIAS', () => {
    const [only] = instructionsFor('example.test', 'apex', rules, zone('example.test', false));
    expect(only?.note).toContain('neither ALIAS nor ANAME');
    expect(only?.note).toContain('www.example.test');
  });

  it('tell what to do if a zone begins at the subdomain itself', () => {
    const [only] = instructionsFor('www.example.test', 'subdomain', rules, zone('www.example.test'));
    expect(only).toMatchObject({ name: '@', note: expect.stringContaining('the zone example.test') as unknown });
  });
});
