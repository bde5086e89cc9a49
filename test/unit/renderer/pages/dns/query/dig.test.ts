import { describe, expect, it } from 'vitest';
import {
  digCommand,
  digLines,
  kindOf,
  readQuestion,
  type DnsAnswer,
} from '../../../../../../renderer/pages/dns/query/dig.ts';

const ANSWER: DnsAnswer = {
  rcode: 'NOERROR',
  id: 4711,
  flags: ['qr', 'aa', 'rd'],
  question: { name: 'www.acme.test', type: 'A' },
  answer: [
    {
      ...{ name: 'www.acme.test', type: 'CNAME', ttl: 3600 },
      ...{ value: 'cname.vivarium.localhost', rdata: 'cname.vivarium.localhost.' },
    },
    { name: 'cname.vivarium.localhost', type: 'A', ttl: 60, value: '127.0.0.1', rdata: '127.0.0.1' },
  ],
  authority: [],
  additional: [],
  source: '127.0.0.1:5380 over UDP',
  server: { address: '127.0.0.1', port: 5380, transport: 'udp' },
  ednsOctets: 1232,
  octets: 96,
  elapsedMs: 0.6,
};

describe('an answer as dig shows it', () => {
  it('has header, question and answer in zone-file notation, and the server', () => {
    expect(digLines(ANSWER)).toEqual([
      ';; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 4711',
      ';; flags: qr aa rd; QUERY: 1, ANSWER: 2, AUTHORITY: 0, ADDITIONAL: 1',
      '',
      ';; OPT PSEUDOSECTION:',
      '; EDNS: version: 0, flags:; udp: 1232',
      ';; QUESTION SECTION:',
      ';www.acme.test.                    IN  A',
      '',
      ';; ANSWER SECTION:',
      'www.acme.test.             3600    IN  CNAME  cname.vivarium.localhost.',
      'cname.vivarium.localhost.  60      IN  A      127.0.0.1',
      '',
      ';; Query time: 1 msec',
      ';; SERVER: 127.0.0.1#5380(127.0.0.1) (UDP)',
      ';; MSG SIZE  rcvd: 96',
    ]);
  });

  it('tells why a question was refused, and omits what a server without EDNS does not send', () => {
    const { ednsOctets: _none, ...plain } = ANSWER;
    const lines = digLines({ ...plain, rcode: 'REFUSED', flags: ['qr', 'rd'], answer: [], detail: 'No zone here.' });
    expect(lines.slice(0, 4)).toEqual([
      ';; ->>HEADER<<- opcode: QUERY, status: REFUSED, id: 4711',
      ';; flags: qr rd; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 0',
      '',
      '; EDE: (No zone here.)',
    ]);
  });

  it.each([
    [{}, 'dig @127.0.0.1 -p 5380 www.acme.test A'],
    [{ server: { address: '::1', port: 53, transport: 'tcp' } }, 'dig @::1 -p 53 +tcp www.acme.test A'],
    [{ question: { name: '*.acme.test', type: 'TXT' } }, "dig @127.0.0.1 -p 5380 '*.acme.test' TXT"],
    [{ question: { name: "it's.test", type: 'A' } }, `dig @127.0.0.1 -p 5380 'it'"'"'s.test' A`],
  ] as const)('comes with the command for the same query: %j', (changes, command) => {
    expect(digCommand({ ...ANSWER, ...changes })).toBe(command);
  });

  const NS = { name: 'lab.acme.test', type: 'NS', ttl: 60, value: 'ns.example', rdata: 'ns.example.' };

  it.each([
    ['answered', {}],
    ['nodata', { answer: [] }],
    ['nodata', { answer: [], authority: [NS], flags: ['qr', 'aa', 'rd'] }],
    ['delegated', { answer: [], authority: [NS], flags: ['qr', 'rd'] }],
    ['nxdomain', { rcode: 'NXDOMAIN', answer: [] }],
    ['refused', { rcode: 'REFUSED', answer: [] }],
    ['failed', { rcode: 'SERVFAIL', answer: [] }],
  ])('is classified as %s', (kind, changes) => {
    expect(kindOf({ ...ANSWER, ...changes })).toBe(kind);
  });
});

it.each([
  ['www.acme.test CAA', { name: 'www.acme.test', type: 'CAA' }],
  ['www.acme.test', { name: 'www.acme.test', type: 'A' }],
  ['', undefined],
  [undefined, undefined],
  ['a b c', undefined],
])('a question in the address %j is %j', (text, question) => {
  expect(readQuestion(text)).toEqual(question);
});
