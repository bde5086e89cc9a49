import { expect, test } from 'vitest';
import type { CaaVerdict } from '../../../../main/contract/certificates.ts';
import { repairCommands, type RepairServices } from '../../../../main/services/domains/domains.ts';
import { fakeZones, makeDomain, makeRecord, makeZone } from '../../../support/page/page-domains.ts';

const FORBIDDEN = makeDomain('www.acme.test', {
  checks: [{ code: 'caa_forbids', outcome: 'failed', message: 'CAA forbids it.' }],
});
const RIGHT = '0 issue "vivarium.localhost"';

const edit = (action: 'remove' | 'add', name: string, value: string) => ({ action, name, value });
const ADDED = edit('add', 'acme.test', RIGHT);

async function repairsOf(edits: CaaVerdict['edits']): Promise<string[]> {
  const records = [
    makeRecord('test', '@ CAA 128 x ""', { id: 'rec_1' }),
    makeRecord('acme.test', '@ CAA 0 issue "a.example"', { id: 'rec_2' }),
  ];
  const zones = [makeZone('test'), makeZone('acme.test')];
  const { client } = fakeZones(zones, records, { 'caa.explain': () => ({ edits }) });
  return await repairCommands(FORBIDDEN, client as unknown as RepairServices, { signal: undefined });
}

test.each<[string, CaaVerdict['edits'], string[]]>([
  [
    'a record and the one in its place are one update',
    [edit('remove', 'acme.test', '0 issue "a.example"'), ADDED],
    [`vivarium record update rec_2 --value '${RIGHT}'`],
  ],
  [
    'a record that is removed, and one at another name, stay two',
    [edit('remove', 'test', '128 x ""'), ADDED],
    ['vivarium record remove rec_1', `vivarium record put acme.test @ CAA '${RIGHT}'`],
  ],
  ['none without the record to remove', [edit('remove', 'acme.test', '0 issue "b.example"'), ADDED], []],
  ['none for a name outside every zone', [edit('add', 'acme.example', RIGHT)], []],
])('CAA is repaired by commands: %s', async (_what, edits, commands) => {
  expect(await repairsOf(edits)).toEqual(commands);
});
