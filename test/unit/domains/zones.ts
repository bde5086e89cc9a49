import { typeCode, CLASS_IN, type ResourceRecord, type RRset } from '../../../main/dns/wire/record.ts';
import { answer } from '../../../main/dns/server/responder.ts';
import { createZone, type Zone } from '../../../main/dns/zones/zone.ts';
import type { DnsLookup, DnsReply, DnsSource, QuestionType } from '../../../main/model/dns-lookup.ts';
import { zoneOf, readZoneFile, zoneSetOf } from '../../support/dns/dns-tables.ts';

export const LOCAL: DnsSource = { local: true, name: 'Vivarium’s DNS' };
export const RESOLVER: DnsSource = { local: false, name: '192.0.2.53:53' };

/** The platform's zone, as far as domains see it. */
export const PLATFORM = zoneOf('vivarium.localhost', 'cname 300 A 127.0.0.1\ncname 300 AAAA ::1\ndemo A 127.0.0.1');

/** A zone as a careless provider would accept it: each line separately, so that any records may coexist. */
export function carelessZone(apex: string, text: string): Zone {
  const parent = apex.slice(apex.indexOf('.') + 1);
  const records = text.split('\n').flatMap((line) => {
    const read = readZoneFile(`$ORIGIN ${apex}.\n$TTL 3600\n${line}`, { apex: parent });
    if (read.faults.length > 0) throw new Error(`${line}: ${JSON.stringify(read.faults)}`);
    return read.records;
  });
  return createZone({ apex, nameServer: 'ns.vivarium.localhost', records });
}

/** The failure of queries for a name, or for one type there: an rcode, or no answer at all. */
export type Failures = Record<
  string,
  'SERVFAIL' | 'REFUSED' | 'FORMERR' | 'timeout' | 'unreachable' | 'malformed' | 'bogus'
>;

export interface FakeDns extends DnsLookup {
  /** `name TYPE`, in the order of the queries. */
  readonly asked: string[];
}

const recordsOf = (rrsets: readonly RRset[]): ResourceRecord[] =>
  rrsets.flatMap(({ name, ttlSeconds, data: all }) => all.map((data) => ({ name, ttlSeconds, data })));

/** DNS without sockets: the pure responder over real zones. Failures are keyed `name` or `name TYPE`. */
export function dnsOver(zones: readonly Zone[], failures: Failures = {}, source: DnsSource = LOCAL): FakeDns {
  const set = zoneSetOf(zones);
  const asked: string[] = [];
  return {
    asked,
    query(name, type) {
      asked.push(`${name} ${type}`);
      const failure = failures[`${name} ${type}`] ?? failures[name];
      return Promise.resolve(failure === undefined ? ask(name, type) : fail(failure));
    },
  };

  function ask(name: string, type: QuestionType): DnsReply {
    const reply = answer(set, { name, type: typeCode(type) ?? 0, class: CLASS_IN });
    const [answers, authority] = [recordsOf(reply.answer), recordsOf(reply.authority)];
    return { kind: 'answered', rcode: reply.rcode, answers, authority, source, detail: reply.detail?.text };
  }

  function fail(failure: Failures[string]): DnsReply {
    switch (failure) {
      case 'timeout':
      case 'unreachable':
      case 'malformed':
      case 'bogus':
        return { kind: 'failed', reason: failure, source };
      default:
        return { kind: 'answered', rcode: failure, answers: [], authority: [], source };
    }
  }
}
