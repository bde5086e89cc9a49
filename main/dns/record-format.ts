import { absoluteText, quoteOctets, relativeText, ROOT, type DomainName } from '../model/dns-name.ts';
import type { RecordData, ResourceRecord } from './record.ts';

/** A record's value in the form that `parseValue` reads. */
export function formatValue(data: RecordData): string {
  if (data.type === 'TXT') return Buffer.from(data.strings.join(''), 'latin1').toString('utf8');
  return formatData(data, (name) => (name === ROOT ? '.' : name));
}

/** A record's value as in a zone file; names relative to `origin` if given, else absolute. */
export function formatZoneValue(data: RecordData, origin?: DomainName): string {
  return formatData(data, origin === undefined ? absoluteText : (name) => relativeText(name, origin));
}

/** A record as one line of a zone file: `www.example. 3600 IN A 192.0.2.1`. */
export function formatRecord(record: ResourceRecord, origin?: DomainName): string {
  const owner = origin === undefined ? absoluteText(record.name) : relativeText(record.name, origin);
  return `${owner} ${record.ttlSeconds} IN ${record.data.type} ${formatZoneValue(record.data, origin)}`;
}

function formatData(data: RecordData, name: (name: DomainName) => string): string {
  switch (data.type) {
    case 'A':
    case 'AAAA':
      return data.address;
    case 'CNAME':
    case 'NS':
    case 'PTR':
    case 'ALIAS':
    case 'ANAME':
      return name(data.target);
    case 'MX':
      return `${data.preference} ${name(data.exchange)}`;
    case 'SRV':
      return `${data.priority} ${data.weight} ${data.port} ${name(data.target)}`;
    case 'TXT':
      return data.strings.map(quoteOctets).join(' ');
    case 'HINFO':
      return `${quoteOctets(data.cpu)} ${quoteOctets(data.os)}`;
    case 'CAA':
      return `${data.flags} ${data.tag} ${quoteOctets(data.value)}`;
    case 'SOA':
      return [
        name(data.primary),
        name(data.mailbox),
        data.serial,
        data.refreshSeconds,
        data.retrySeconds,
        data.expireSeconds,
        data.minimumSeconds,
      ].join(' ');
  }
}
