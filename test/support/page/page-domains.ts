import type { Domain } from '../../../main/contract/domains.ts';
import type { RecordInfo, ZoneInfo } from '../../../main/contract/zones.ts';
import { CREATED_AT } from './page-world.ts';
import { fakeClient, type Answers } from '../fake-client.ts';

export const TARGET = 'cname.vivarium.localhost';

/** A verified subdomain with a certificate; `rest` overrides its properties. */
export function makeDomain(hostname = 'www.acme.test', rest: Partial<Domain> = {}): Domain {
  return {
    hostname,
    projectId: 'prj_shop',
    kind: 'subdomain',
    state: 'verified',
    certificate: { state: 'issued', notAfter: '2027-02-18T09:00:00.000Z', renewAt: '2027-01-19T09:00:00.000Z' },
    instructions: [{ type: 'CNAME', name: hostname.split('.')[0] ?? '', value: TARGET, ttl: 3600 }],
    checks: [],
    serving: { http: true, https: true },
    primary: false,
    attachedAt: CREATED_AT,
    verifiedAt: CREATED_AT,
    lastCheckedAt: CREATED_AT,
    nextCheckAt: '2026-11-21T09:00:00.000Z',
    ...rest,
  };
}

export const makeZone = (name: string, rest: Partial<ZoneInfo> = {}): ZoneInfo => ({
  name,
  supportsAlias: true,
  records: 0,
  createdAt: CREATED_AT,
  ...rest,
});

/** A record by its line in the zone: `www A 192.0.2.1`. */
export function makeRecord(zone: string, line: string, rest: Partial<RecordInfo> = {}): RecordInfo {
  const [name = '', type = '', ...value] = line.split(' ');
  return {
    id: `${zone} ${line}`,
    zone,
    name,
    type: type as RecordInfo['type'],
    ttl: 3600,
    value: value.join(' '),
    visibleAt: CREATED_AT,
    ...rest,
  };
}

/** Vivarium's zones in memory, as clients see them. `lines` lists their records: `acme.test: www A 192.0.2.1`. */
export function fakeZones(zones: ZoneInfo[], records: RecordInfo[], more: Answers = {}) {
  const fake = fakeClient({
    'zones.list': () =>
      zones.map((zone) => ({ ...zone, records: records.filter((one) => one.zone === zone.name).length })),
    'zones.create': ({ name }: { name: string }) => {
      const zone = makeZone(name);
      zones.push(zone);
      return zone;
    },
    'zones.remove': ({ name }: { name: string }) => {
      zones.splice(
        zones.findIndex((zone) => zone.name === name),
        1,
      );
    },
    'records.list': ({ zone, name }: { zone: string; name?: string }) =>
      records.filter((record) => record.zone === zone && (name === undefined || record.name === name)),
    'records.put': ({ zone, name, type, ttl, value }: RecordInfo) => {
      const record = makeRecord(zone, `${name} ${type} ${value}`, { ttl });
      records.push(record);
      return record;
    },
    'records.update': ({ id, force: _force, ...changes }: Partial<RecordInfo> & { id: string; force?: boolean }) => {
      const index = records.findIndex((record) => record.id === id);
      const record = { ...(records[index] as RecordInfo), ...changes };
      records[index] = record;
      return record;
    },
    'records.remove': ({ id }: { id: string }) => {
      records.splice(
        records.findIndex((record) => record.id === id),
        1,
      );
    },
    'settings.get': () => ({ resolver: 'local' }),
    ...more,
  });
  return {
    ...fake,
    lines: () => records.map(({ zone, name, type, ttl, value }) => `${zone}: ${name} ${ttl} ${type} ${value}`),
    names: () => zones.map(({ name }) => name),
  };
}
