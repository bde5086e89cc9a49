/** What the composition root and the services take from here; everything else is for this folder and its tests. */
export { emptyAnswer, RCODES, type DnsAnswer, type Question, type Rcode } from './answer.ts';
export { NAME_SERVER, publishPlatformZone } from './platform-zone.ts';
export { formatRecord, formatValue, formatZoneValue } from './record-format.ts';
export { parseTtl, parseValue, parseZoneValue, type DataResult } from './record-text.ts';
export {
  CLASS_IN,
  isRecordType,
  RECORD_TYPES,
  typeCode,
  typeName,
  type RecordData,
  type RecordType,
  type ResourceRecord,
  type RRset,
} from './record.ts';
export { answer } from './responder.ts';
export type { DnsListening } from './bind.ts';
export { createDnsClient, type DnsClient, type DnsResult } from './client.ts';
export { createLookup, serverText, type Lookup, type LookupReply, type Resolver } from './lookup.ts';
export type { ResponseRecord } from './message-reader.ts';
export { changeRRset, isCurrent, isVisible, statesOf, type RecordVersion, type RRsetChange } from './propagation.ts';
export { createDnsServer, type DnsServer, type DnsServerOptions } from './server.ts';
export { readZoneFileInParts, writeZoneFile, type ZoneFileFault, type ZoneFileResult } from './zone-file.ts';
export type { ZoneIndex } from './zone-index.ts';
export { ZoneSet } from './zone-set.ts';
export { carelessFaults, createZone, DEFAULT_TTL_SECONDS, recordFaults, type RecordPlace, type Zone } from './zone.ts';
export { createZonePublisher, type ZonePublisher } from './zone-publisher.ts';
