import { posixWord } from '../../../../main/base/text/shell.ts';
import type { Client } from '../../../connection/transport.ts';

export type DnsAnswer = Awaited<ReturnType<Client['dns']['query']>>;
type AnswerRecord = DnsAnswer['answer'][number];

/** A query as typed: `www.acme.test CAA`. */
export interface DnsQuestion {
  name: string;
  type: string;
}

/** A query as written in the address. */
export const formatQuestion = ({ name, type }: DnsQuestion): string => `${name} ${type}`;

export function readQuestion(text: string | undefined): DnsQuestion | undefined {
  const [name = '', type = 'A', ...more] = (text ?? '').split(' ');
  return name === '' || more.length > 0 ? undefined : { name, type };
}

/** The command that sends the same query to the same server. */
export function digCommand({ question, server }: DnsAnswer): string {
  const { address, port, transport } = server;
  const words = ['dig', posixWord(`@${address}`), '-p', String(port), ...(transport === 'tcp' ? ['+tcp'] : [])];
  return [...words, posixWord(question.name), posixWord(question.type)].join(' ');
}

const SECTIONS = [
  ['ANSWER', 'answer'],
  ['AUTHORITY', 'authority'],
  ['ADDITIONAL', 'additional'],
] as const;

/** A longer name shifts only its own line. */
const NAME_COLUMN_MAX = 40;

/**
 * An answer in `dig` format: header, question, and each non-empty section in zone-file notation with aligned columns.
 */
export function digLines(answer: DnsAnswer): string[] {
  const { question } = answer;
  const names = [question, ...SECTIONS.flatMap(([, key]) => answer[key])].map(({ name }) => absolute(name).length);
  const column = Math.min(Math.max(...names) + 1, NAME_COLUMN_MAX) + 1;
  const line = ({ name, ttl, type, rdata }: AnswerRecord): string =>
    `${absolute(name).padEnd(column)}${String(ttl).padEnd(8)}IN  ${type.padEnd(6)} ${rdata}`;
  const asked = `${`;${absolute(question.name)}`.padEnd(column)}${' '.repeat(8)}IN  ${question.type}`;
  return [
    ...headerLines(answer),
    ';; QUESTION SECTION:',
    asked,
    '',
    ...SECTIONS.flatMap(([title, key]) =>
      answer[key].length === 0 ? [] : [`;; ${title} SECTION:`, ...answer[key].map(line), ''],
    ),
    ...footerLines(answer),
  ];
}

function headerLines({ rcode, id, flags, ednsOctets, detail, answer, authority, additional }: DnsAnswer): string[] {
  // The header counts the OPT record as additional.
  const others = additional.length + (ednsOctets === undefined ? 0 : 1);
  const counts = `QUERY: 1, ANSWER: ${answer.length}, AUTHORITY: ${authority.length}, ADDITIONAL: ${others}`;
  return [
    `;; ->>HEADER<<- opcode: QUERY, status: ${rcode}, id: ${id}`,
    `;; flags: ${flags.join(' ')}; ${counts}`,
    '',
    ...(ednsOctets === undefined ? [] : [';; OPT PSEUDOSECTION:', `; EDNS: version: 0, flags:; udp: ${ednsOctets}`]),
    ...(detail === undefined ? [] : [`; EDE: (${detail})`]),
  ];
}

function footerLines({ server, octets, elapsedMs }: DnsAnswer): string[] {
  const { address, port, transport } = server;
  return [
    `;; Query time: ${Math.round(elapsedMs)} msec`,
    `;; SERVER: ${address}#${port}(${address}) (${transport.toUpperCase()})`,
    `;; MSG SIZE  rcvd: ${octets}`,
  ];
}

export type AnswerKind = 'answered' | 'nodata' | 'delegated' | 'nxdomain' | 'refused' | 'failed';

/** The meaning of an answer; an empty one is not a failure. */
export function kindOf({ rcode, answer, authority, flags }: DnsAnswer): AnswerKind {
  if (rcode === 'NXDOMAIN') return 'nxdomain';
  if (rcode === 'REFUSED') return 'refused';
  if (rcode !== 'NOERROR') return 'failed';
  if (answer.length > 0) return 'answered';
  return !flags.includes('aa') && authority.some(({ type }) => type === 'NS') ? 'delegated' : 'nodata';
}

const absolute = (name: string): string => (name === '.' ? name : `${name}.`);
