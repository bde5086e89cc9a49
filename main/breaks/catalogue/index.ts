import type { BreakEntry, BreakFamily, BreakPoint } from '../../contract/breaks.ts';
import { API_ENTRIES } from './api.ts';
import { CA_ENTRIES } from './ca.ts';
import { CONNECTION_ENTRIES } from './connection.ts';
import { DNS_ENTRIES } from './dns.ts';
import { DOMAIN_ENTRIES } from './domain.ts';
import { HTTP_ENTRIES } from './http.ts';
import { withKeywords } from './keywords.ts';
import { MACHINE_ENTRIES } from './machine.ts';
import { TLS_ENTRIES } from './tls.ts';

/** All entries, by family in the order of the page. */
export const CATALOGUE: readonly BreakEntry[] = [
  ...API_ENTRIES,
  ...HTTP_ENTRIES,
  ...CONNECTION_ENTRIES,
  ...TLS_ENTRIES,
  ...DNS_ENTRIES,
  ...DOMAIN_ENTRIES,
  ...CA_ENTRIES,
  ...MACHINE_ENTRIES,
].map(withKeywords);

const POINTS: Readonly<Record<BreakFamily, BreakPoint>> = {
  dns: 'question',
  connection: 'request',
  tls: 'handshake',
  http: 'request',
  api: 'request',
  domain: 'state',
  ca: 'issuance',
  machine: 'state',
};

/** Where an entry acts: the point of its family, unless it has its own. */
export const pointOf = ({ at, family }: Pick<BreakEntry, 'at' | 'family'>): BreakPoint => at ?? POINTS[family];
