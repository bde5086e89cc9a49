import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Received } from '../../support/acme/acme-client.ts';
import { createRemoteClient, textRecordOf } from '../../support/acme/acme-remote.ts';
import { createCsr } from '../../support/certificate-request.ts';
import { startEngine, track } from '../../support/engine.ts';

const ZONE = 'caatestsuite.com';

/** The names of caatestsuite.com (SSLMate) that no CA may issue for, and the record that forbids each. */
const DENIED = [
  ['empty.basic', 'empty.basic.caatestsuite.com. CAA 0 issue ";"'],
  ['deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['uppercase-deny.basic', 'uppercase-deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['mixedcase-deny.basic', 'mixedcase-deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['big.basic', 'big.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['critical1.basic', 'critical1.basic.caatestsuite.com. CAA 128 caatestsuitedummyproperty "test"'],
  ['critical2.basic', 'critical2.basic.caatestsuite.com. CAA 130 caatestsuitedummyproperty "test"'],
  ['sub1.deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['sub2.sub1.deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['*.deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['*.deny-wild.basic', 'deny-wild.basic.caatestsuite.com. CAA 0 issuewild "caatestsuite.com"'],
  ['cname-deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['cname-cname-deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['sub1.cname-deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['dname-permit.deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['cname-permit-sub.deny.basic', 'deny.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
  ['deny.permit.basic', 'deny.permit.basic.caatestsuite.com. CAA 0 issue "caatestsuite.com"'],
] as const;

/** Sibling names that any CA may issue for. */
const PERMITTED = [
  'permit.basic',
  '*.permit.basic',
  'sub.permit.basic',
  'deny-wild.basic',
  'auto-www-san',
  'www.auto-base-san',
];

/** Its records, from the published list of tests; `CAATESTSUITE_ZONE` names the file of the zone itself. */
const RECORDS = [
  'empty.basic CAA 0 issue ";"',
  'deny.basic CAA 0 issue "caatestsuite.com"',
  'uppercase-deny.basic CAA 0 ISSUE "caatestsuite.com"',
  'mixedcase-deny.basic CAA 0 IsSuE "caatestsuite.com"',
  ...Array.from({ length: 1_000 }, (_, index) => `big.basic CAA 0 t${index} "test"`),
  'big.basic CAA 0 issue "caatestsuite.com"',
  'critical1.basic CAA 128 caatestsuitedummyproperty "test"',
  'critical2.basic CAA 130 caatestsuitedummyproperty "test"',
  'deny-wild.basic CAA 0 issuewild "caatestsuite.com"',
  'cname-deny.basic CNAME deny.basic',
  'cname-cname-deny.basic CNAME cname-deny.basic',
  'dname-permit.deny.basic DNAME permit.basic',
  'cname-permit-sub.deny.basic CNAME sub.permit.basic',
  'permit.basic CAA 0 dummy "dummy"',
  'deny.permit.basic CAA 0 issue "caatestsuite.com"',
  'www.auto-base-san CAA 0 dummy "dummy"',
  'www.auto-www-san CAA 0 issue "caatestsuite.com"',
];
const { CAATESTSUITE_ZONE: file } = process.env;
const TEXT = file === undefined ? `$TTL 60\n${RECORDS.join('\n')}\n` : readFileSync(file, 'utf8');

test('caatestsuite.com: refuses each forbidden name and names the record, and issues for the siblings', async () => {
  const { app, call } = await startEngine({ empty: true });
  await call('zones.create', { name: ZONE });
  expect(await call('zones.import', { name: ZONE, text: TEXT })).toMatchObject({ rejected: [] });
  await call('ca.extend', { suffix: ZONE, confirm: true });
  const client = createRemoteClient(app.runtime);
  track(() => client.close());
  await client.register();

  /** Validates by dns-01: most of the names have no address. */
  async function obtain(name: string): Promise<Received> {
    const order = await client.order([name]);
    const [authorization] = await client.authorizations(order);
    if (authorization === undefined) return order;
    const text = await textRecordOf(client, authorization);
    const asked = text.name.replace('dname-permit.deny', 'permit').slice(0, -ZONE.length - 1);
    await call('records.put', { zone: ZONE, name: asked, type: 'TXT', value: text.value });
    const [challenge] = await client.respond(order, 'dns-01');
    if (challenge?.json['status'] !== 'valid') return challenge ?? order;
    return client.finalize(order, createCsr({ names: [name] }));
  }

  const refused: [string, string][] = [];
  for (const [name, record] of DENIED) {
    const { error } = (await obtain(`${name}.${ZONE}`)).json as { error?: { type: string; detail: string } };
    const isNamed = error?.detail.toLowerCase().includes(record.toLowerCase()) === true;
    refused.push([name, `${error?.type ?? 'none'} ${isNamed ? record : (error?.detail ?? '')}`]);
  }
  expect(refused).toEqual(DENIED.map(([name, record]) => [name, `urn:ietf:params:acme:error:caa ${record}`]));
  for (const name of PERMITTED) {
    const { json } = await obtain(`${name}.${ZONE}`);
    expect([name, json['status']]).toEqual([name, 'valid']);
  }
});
