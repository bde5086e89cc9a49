import { describe, expect, it } from 'vitest';
import type { CaaVerdict } from '../../../../main/contract/certificates.ts';
import { caaLookupOver } from '../../../../main/domains/checks/resolution.ts';
import { formatCaa, type CaaRecord } from '../../../../main/model/caa/value.ts';
import { type CaaLookup, explainCaa } from '../../../../main/model/caa/walk.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { dnsOver } from '../../domains/zones.ts';

/** The actions of a user who follows the advice: edits of record sets, by their owner. */
type Edit = (owner: string, records: readonly CaaRecord[]) => readonly CaaRecord[];

const RECORD = /(\S+)\. CAA (\d+) (\S+) "((?:[^"\\]|\\.)*)"/g;

function recordsIn(text: string): { owner: string; record: CaaRecord }[] {
  return [...text.matchAll(RECORD)].map(([, owner = '', flags = '', tag = '', value = '']) => ({
    owner,
    record: { flags: Number(flags), tag, value },
  }));
}

/** Reads the advice as instructions, one after the other. */
function editsOf(change: string): Edit[] {
  const text = change.replace(/^To (?:permit|forbid) it, /, '').replace(/ – or, .*$/, '');
  return text.split('; and ').map((part) => {
    const named = recordsIn(part);
    const isNamed = (owner: string, record: CaaRecord): boolean =>
      named.some((one) => one.owner === owner && formatCaa(owner, one.record) === formatCaa(owner, record));
    if (part.startsWith('add this record: '))
      return (owner, records) => [...records, ...named.flatMap((one) => (one.owner === owner ? one.record : []))];
    if (part.startsWith('remove ')) return (owner, records) => records.filter((record) => !isNamed(owner, record));
    const change: Partial<CaaRecord> = part.startsWith('set the flags to 0') ? { flags: 0 } : { value: ';' };
    expect(part).toMatch(/^set the (flags to 0|value to ";") in /);
    return (owner, records) => records.map((record) => (isNamed(owner, record) ? { ...record, ...change } : record));
  });
}

function edited(lookup: (name: string) => Promise<CaaLookup>, edits: readonly Edit[]) {
  return async (name: string): Promise<CaaLookup> => {
    const found = await lookup(name);
    if (found.kind === 'error') return found;
    const before = found.kind === 'records' ? found.records : [];
    const owner = found.aliasChain.at(-1) ?? name;
    const records = edits.reduce((set, edit) => edit(owner, set), before);
    return { kind: 'records', records, aliasChain: found.aliasChain };
  };
}

const zone = zoneOf(
  'test',
  `
  ours         CAA 0 issue "ca.example"
  ours         CAA 0 issue "other.example"
  mine         CAA 0 issue "ca.example"
  twice        CAA 0 issue "ca.example"
  twice        CAA 0 issue "ca.example; foo=1"
  theirs       CAA 0 issue "other.example"
  nobody       CAA 0 issue ";"
  wild         CAA 0 issue "ca.example"
  wild         CAA 0 issuewild "other.example"
  wilder       CAA 0 issuewild "ca.example"
  critical     CAA 128 foo "bar"
  critical     CAA 128 baz "bar"
  below.nobody CAA 128 foo "bar"
  crowd        CAA 128 foo "bar"
  crowd        CAA 0 issue "other.example"
  crowd2       CAA 128 foo "bar"
  crowd2       CAA 0 issue "ca.example"
  iodef        CAA 0 iodef "mailto:a@b.test"
  plain        A 192.0.2.1
  www.plain    CNAME plain
  www.theirs   CNAME theirs
  www.mine     CNAME mine
  malformed    CAA 0 issue "%%\\"%"
  `,
);

/** The same through the edits that come with the advice. */
const editsIn = (verdict: CaaVerdict): Edit[] =>
  verdict.edits.map(({ action, name, value }) => {
    const [edit] = recordsIn(`${name}. CAA ${value}`);
    if (edit === undefined) throw new Error(`The edit can't be read: ${value}`);
    const line = formatCaa(name, edit.record);
    return (owner, records) => {
      if (owner !== name) return records;
      if (action === 'add') return [...records, edit.record];
      const index = records.findIndex((record) => formatCaa(owner, record) === line);
      expect(index, `${line} is there to be removed`).toBeGreaterThanOrEqual(0);
      return records.toSpliced(index, 1);
    };
  });

describe('following the advice reverses the verdict', () => {
  const names = [...new Set(zone.records.map(({ name }) => name))].filter((name) => name !== 'test');
  for (const hostname of names.flatMap((name) => [name, `*.${name}`, `deep.er.${name}`])) {
    it(hostname, async () => {
      const request = { hostname, issuer: 'ca.example', method: 'http-01', accountUri: null };
      const lookup = caaLookupOver(dnsOver([zone]));
      const before = await explainCaa({ ...request, lookup });
      const after = await explainCaa({ ...request, lookup: edited(lookup, editsOf(before.change)) });
      expect(before.verdict).not.toBe('lookup_failed');
      expect([before.verdict, after.verdict].sort(), before.change).toEqual(['allowed', 'forbidden']);
      const done = await explainCaa({ ...request, lookup: edited(lookup, editsIn(before)) });
      expect(done.verdict, JSON.stringify(before.edits)).toBe(after.verdict);
    });
  }
});

it.each([
  ['ca.example; accounturi=https://ca.example/2', '0 issue "ca.example; accounturi=https://ca.example/1"'],
  ['ca.example; foo=1; accounturi=a; accounturi=b', '0 issue "ca.example; foo=1; accounturi=https://ca.example/1"'],
  ['ca.example; validationmethods=dns-01', '0 issue "ca.example; validationmethods=dns-01,http-01"'],
  ['ca.example; validationmethods=HTTP-01,dns-01', '0 issue "ca.example; validationmethods=http-01,dns-01"'],
  ['ca.example; validationmethods=dns-01, http-01', null],
  ['ca.example; validationmethods=', '0 issue "ca.example; validationmethods=http-01"'],
  [
    'ca.example; ValidationMethods=_; AccountURI=x',
    '0 issue "ca.example; accounturi=https://ca.example/1; validationmethods=http-01"',
  ],
])('the edits for a record that names the CA, but with unmet conditions: %s', async (value, expected) => {
  const conditional = zoneOf('test', `www CAA 0 issue "${value}"`);
  const lookup = caaLookupOver(dnsOver([conditional]));
  const accountUri = 'https://ca.example/1';
  const request = { hostname: 'www.test', issuer: 'ca.example', method: 'http-01', accountUri };
  const before = await explainCaa({ ...request, lookup });
  expect(before.verdict).toBe('forbidden');
  // A malformed value names no CA, so a record is added instead.
  expect(before.edits.map(({ action }) => action)).toEqual(expected === null ? ['add'] : ['remove', 'add']);
  if (expected !== null) expect(before.edits[1]?.value).toBe(expected);
  const after = await explainCaa({ ...request, lookup: edited(lookup, editsIn(before)) });
  expect(after.verdict).toBe('allowed');
});
