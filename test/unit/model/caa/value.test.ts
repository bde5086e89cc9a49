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

  const bad = [
    '%%%%%',
    'ca_x.example',
    'ca.example.',
    '.',
    '.ca.example',
    'ca..example',
    '-ca.example',
    'ca-.example',
    'ca.example other.example',
    'ca.example, other.example',
    'ca.example;;',
    'ca.example; a=b;',
    'ca.example; ; a=b',
    'ca.example; a',
    'ca.example; =b',
    'ca.example; -a=b',
    'ca.example; a b=c',
    'ca.example; a=b c',
    'ca.example; a=\x7f',
    'ca.example\n',
    '\u00a0ca.example',
    'b\xfccher.example',
  ];
  it.each(bad)('%j is malformed', (text) => {
    expect(parseIssueValue(text)).toMatchObject({ ok: false });
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

  it.each<[record: CaaRecord, kind: string, warnings: RegExp[]]>([
    [{ flags: 0, tag: 'issue', value: 'ca.example' }, 'authorised', []],
    [{ flags: 0, tag: 'issue', value: long }, 'authorised', []],
    [{ flags: 0, tag: 'issue', value: `${long};;` }, 'unauthorised', [/malformed .* authorises no CA/]],
    [{ flags: 0, tag: 'issue', value: 'ca.example.' }, 'unauthorised', [/malformed .* authorises no CA/]],
    [{ flags: 128, tag: 'issue', value: 'ca.example' }, 'authorised', []],
    [{ flags: 128, tag: 'iodef', value: 'mailto:a@b.test' }, 'unrestricted', []],
    [{ flags: 128, tag: 'issuemail', value: ';' }, 'unrestricted', []],
    [{ flags: 0, tag: 'contactemail', value: 'a@b.test' }, 'unrestricted', []],
    [
      { flags: 128, tag: 'contactemail', value: 'a@b.test' },
      'critical',
      [/does not support it: it forbids every issuance/],
    ],
    [{ flags: 128, tag: 'ContactPhone', value: '+1' }, 'critical', [/does not support it: it forbids every issuance/]],
    [{ flags: 0, tag: 'tbs', value: 'x' }, 'unrestricted', [/not registered: CAs ignore it/]],
    [{ flags: 128, tag: 'tbs', value: 'x' }, 'critical', [/not registered: .* forbids every issuance/]],
  ])('%j is %s', (record, kind, warnings) => {
    expect(evaluateSet([record], ISSUER, false).kind).toBe(kind);
    const stored = parseValue('CAA', `${record.flags} ${record.tag} "${record.value}"`);
    expect(stored).toMatchObject({ ok: true, data: record });
    expect(stored.ok && stored.warnings).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
  });
});
