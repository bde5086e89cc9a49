import { describe, expect, it } from 'vitest';
import { parseValue } from '../../../../main/dns/wire/record-text.ts';
import { evaluateSet } from '../../../../main/model/caa/set.ts';
import { type CaaRecord, parseIssueValue } from '../../../../main/model/caa/value.ts';

describe('an issue value', () => {
  const good: [value: string, issuer: string, parameters: Record<string, string>][] = [
    ['ca.example', 'ca.example', {}],
    ['\tca.example\t', 'ca.example', {}],
    ['', '', {}],
    [';', '', {}],
    ['; a=b', '', { a: 'b' }],
    ['ca.example; a = b ; c=d=e', 'ca.example', { a: 'b', c: 'd=e' }],
    ['ca.example; a=', 'ca.example', { a: '' }],
    ['ca.example; a-b--c=1', 'ca.example', { 'a-b--c': '1' }],
    ['1.2', '1.2', {}],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example', {}],
  ];
  it.each(good)('%j is well formed', (text, issuer, parameters) => {
    expect(parseIssueValue(text)).toEqual({
      ok: true,
      value: { issuer, parameters: Object.entries(parameters).map(([tag, value]) => ({ tag, value })) },
    });
  });

  it.each([
    ['characters', ['%%%%%', 'ca_x.example', 'ca.example\n', '\u00a0ca.example', 'b\xfccher.example']],
    ['dots', ['ca.example.', '.', '.ca.example', 'ca..example']],
    ['hyphens', ['-ca.example', 'ca-.example']],
    ['names', ['ca.example other.example', 'ca.example, other.example']],
    ['semicolons', ['ca.example;;', 'ca.example; a=b;', 'ca.example; ; a=b']],
    ['tags', ['ca.example; a', 'ca.example; =b', 'ca.example; -a=b', 'ca.example; a b=c']],
    ['values', ['ca.example; a=b c', 'ca.example; a=\x7f']],
  ])('is malformed with other %s: %j', (_what, texts) => {
    for (const text of texts) expect(parseIssueValue(text), text).toMatchObject({ ok: false });
  });

  it('is read in linear time', () => {
    const hostile = `${'-a'.repeat(30_000)};${' '.repeat(30_000)}x${';a=b'.repeat(10_000)}`;
    const begin = process.cpuUsage();
    expect(parseIssueValue(hostile)).toMatchObject({ ok: false });
    expect(parseIssueValue(`${'a-'.repeat(30_000)}${' '.repeat(30_000)}`)).toMatchObject({ ok: false });
    expect(process.cpuUsage(begin).user).toBeLessThan(250_000);
  });
});

describe('a record has the same verdict where it is stored and at the CA', () => {
  const ISSUER = { issuer: 'ca.example', method: 'http-01', accountUri: null };
  const long = `ca.example; x=${'a'.repeat(1_100)}`;

  const FORBIDS = /does not support it: it forbids every issuance/;
  const NO_CA = /malformed .* authorises no CA/;

  it.each<[flags: number, tag: string, value: string, kind: string, ...warnings: RegExp[]]>([
    [0, 'issue', 'ca.example', 'authorised'],
    [0, 'issue', long, 'authorised'],
    [0, 'issue', `${long};;`, 'unauthorised', NO_CA],
    [0, 'issue', 'ca.example.', 'unauthorised', NO_CA],
    [128, 'issue', 'ca.example', 'authorised'],
    [128, 'iodef', 'mailto:a@b.test', 'unrestricted'],
    [128, 'issuemail', ';', 'unrestricted'],
    [0, 'contactemail', 'a@b.test', 'unrestricted'],
    [128, 'contactemail', 'a@b.test', 'critical', FORBIDS],
    [128, 'ContactPhone', '+1', 'critical', FORBIDS],
    [0, 'tbs', 'x', 'unrestricted', /not registered: CAs ignore it/],
    [128, 'tbs', 'x', 'critical', /not registered: .* forbids every issuance/],
  ])('%i %s %s is %s', (flags, tag, value, kind, ...warnings) => {
    const record: CaaRecord = { flags, tag, value };
    expect(evaluateSet([record], ISSUER, false).kind).toBe(kind);
    const stored = parseValue('CAA', `${record.flags} ${record.tag} "${record.value}"`);
    expect(stored).toMatchObject({ ok: true, data: record });
    expect(stored.ok && stored.warnings).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
  });
});
