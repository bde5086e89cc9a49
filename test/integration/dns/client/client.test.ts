import { describe, expect, it, onTestFinished } from 'vitest';
import { createClock } from '../../../../main/base/clock.ts';
import { createDnsClient, type DnsResult } from '../../../../main/dns/client/client.ts';
import { createLookup } from '../../../../main/dns/client/lookup.ts';
import { typeCode } from '../../../../main/dns/wire/record.ts';
import type { DnsLookup } from '../../../../main/model/dns-lookup.ts';
import { opt } from '../../../support/dns/dns-client.ts';
import { question, record, replyTo, startFakeDns } from '../../../support/dns/dns-fake-server.ts';
import type { Behaviour, ReplyFields } from '../../../support/dns/dns-fake-server.ts';
import { startDns } from '../../../support/dns/dns-server.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { createFakeClock, settle } from '../../../support/fake-clock.ts';

const ADDRESS = record(1, Buffer.from([192, 0, 2, 1]));
const NOTHING: Behaviour = () => null;
const GOOD: Behaviour = (query) => replyTo(query, { answer: [ADDRESS] });

function client(clock = createClock()) {
  const made = createDnsClient(clock);
  onTestFinished(() => made.close());
  return made;
}

/** Answers with these flags. */
const flagged =
  (flags: number, more: ReplyFields = {}): Behaviour =>
  (query) =>
    replyTo(query, { flags, ...more });
const TRUNCATED = flagged(0x200);

const WWW = { name: 'www.acme.test', type: 1 };

/** A behaviour after which the client keeps waiting, so that time has to pass. */
const ignored = new Set<Behaviour>([NOTHING]);
function markIgnored(behaviour: Behaviour): Behaviour {
  ignored.add(behaviour);
  return behaviour;
}
const ignoring = (fields: ReplyFields): Behaviour => markIgnored((query) => replyTo(query, fields));

/** Sends a query with a clock whose timeouts pass whenever the server has done something that the client ignores. */
async function askWithTimeouts(behaviours: Behaviour[], question = WWW) {
  const clock = createFakeClock();
  // Each signal is one ignored query; one may arrive while time is passing.
  const signals: (() => void)[] = [];
  const heard: Promise<void>[] = Array.from({ length: 5 }, () => new Promise((resolve) => signals.push(resolve)));
  const server = await startFakeDns(
    ...behaviours.map((behaviour): Behaviour => (query, transport) => {
      if (transport === 'udp' && ignored.has(behaviour)) setImmediate(() => signals.shift()?.());
      return behaviour(query, transport);
    }),
  );
  let result: DnsResult | null = null;
  const asking = client(clock)
    .ask(server, question)
    .then((value) => (result = value));
  for (const signal of heard) {
    await Promise.race([asking, signal]);
    if (result !== null) break;
    for (let rest = 0; rest < 3; rest++) await settle();
    await clock.pass(1_500);
  }
  return { result: await asking, seen: server.seen };
}

describe('our own server', () => {
  const texts = Array.from({ length: 40 }, (_, index) => `big TXT "${String(index).padStart(200, '.')}"`).join('\n');

  it.each([
    ['www.a.test', 'A', 'NOERROR', 'udp', 1],
    ['none.a.test', 'A', 'NXDOMAIN', 'udp', 0],
    ['www.other.test', 'A', 'REFUSED', 'udp', 0],
    ['big.a.test', 'TXT', 'NOERROR', 'tcp', 40],
  ] as const)('answers %s %s with %s over %s and %i records', async (name, type, rcode, transport, count) => {
    const dns = await startDns([zoneOf('a.test', `www A 192.0.2.1\n${texts}`)]);
    onTestFinished(() => dns.server.stop());
    const reply = await client().ask({ address: '127.0.0.1', port: dns.port }, { name, type: typeCode(type) ?? 0 });
    expect(reply).toMatchObject({ kind: 'answered', rcode, transport });
    expect(reply.kind === 'answered' && reply.answers.length).toBe(count);
  });

  it('answers 500 questions at once', async () => {
    const dns = await startDns([zoneOf('a.test', '*.w A 192.0.2.1')]);
    onTestFinished(() => dns.server.stop());
    const asking = client();
    const server = { address: '127.0.0.1', port: dns.port };
    const replies = await Promise.all(
      Array.from({ length: 500 }, (_, index) => asking.ask(server, { name: `n${index}.w.a.test`, type: 1 })),
    );
    const names = replies.map((reply) => (reply.kind === 'answered' ? reply.answers[0]?.name : reply.reason));
    expect(names).toEqual(replies.map((_, index) => `n${index}.w.a.test`));
  });

  it('has the interface that verification needs', async () => {
    const dns = await startDns([zoneOf('a.test', 'www A 192.0.2.1')]);
    onTestFinished(() => dns.server.stop());
    const lookup: DnsLookup = createLookup(client(), () => ({ address: '127.0.0.1', port: dns.port, local: true }));
    expect(await lookup.query('WWW.A.test.', 'A')).toMatchObject({
      kind: 'answered',
      answers: [{ name: 'www.a.test', data: { type: 'A', address: '192.0.2.1' } }],
      source: { local: true, name: 'Vivarium’s DNS' },
    });
    expect(await lookup.query('www.other.test', 'A')).toMatchObject({ rcode: 'REFUSED', detail: expect.any(String) });
    expect(await lookup.query('a..b', 'A')).toMatchObject({ kind: 'failed', reason: 'malformed' });
  });
});

describe('a server that misbehaves', () => {
  it.each<[string, Behaviour[], Partial<DnsResult> & object, number]>([
    ['SERVFAIL is an answer', [flagged(2)], { kind: 'answered', rcode: 'SERVFAIL' }, 1],
    ['SERVFAIL as a header alone', [flagged(2, { question: Buffer.alloc(0) })], { rcode: 'SERVFAIL' }, 1],
    ['silence, three times', [NOTHING], { kind: 'failed', reason: 'timeout' }, 3],
    ['a lost datagram', [NOTHING, GOOD], { kind: 'answered', rcode: 'NOERROR' }, 2],
    [
      'another id',
      [markIgnored((query) => replyTo(query, { id: query.readUInt16BE(0) ^ 1 }))],
      { kind: 'failed', reason: 'timeout' },
      3,
    ],
    ['another question', [ignoring({ question: question('www.evil.test', 1) })], { reason: 'timeout' }, 3],
    ['another type', [ignoring({ question: question('www.acme.test', 16) })], { reason: 'timeout' }, 3],
    ['the query itself', [markIgnored((query) => query)], { kind: 'failed', reason: 'malformed' }, 3],
    ['garbage with its id', [ignoring({ answer: [Buffer.from([0xff])] })], { reason: 'malformed' }, 3],
    [
      'a forgery before the answer',
      [(query) => [replyTo(query, { id: query.readUInt16BE(0) ^ 1 }), replyTo(query, { answer: [ADDRESS] })]],
      { rcode: 'NOERROR' },
      1,
    ],
    ['FORMERR to EDNS', [flagged(1), GOOD], { kind: 'answered', rcode: 'NOERROR' }, 2],
    ['FORMERR to everything', [flagged(1)], { kind: 'answered', rcode: 'FORMERR' }, 2],
    ['FORMERR from one that knows EDNS', [flagged(1, { additional: [opt()] })], { rcode: 'FORMERR' }, 1],
    ['TC over UDP', [TRUNCATED, GOOD], { rcode: 'NOERROR', transport: 'tcp' }, 2],
    ['TC, and a closed connection', [TRUNCATED, NOTHING], { kind: 'failed', reason: 'unreachable' }, 2],
    ['TC, and another message over TCP', [TRUNCATED, flagged(0, { id: 0 })], { reason: 'malformed' }, 2],
    ['an rcode without a name', [flagged(11)], { kind: 'answered', rcode: 'RCODE11' }, 1],
  ])('%s', async (_case, behaviours, expected, queries) => {
    const { result, seen } = await askWithTimeouts(behaviours);
    expect(result).toMatchObject(expected);
    expect(seen).toHaveLength(queries);
  });

  it('is unreachable at once without a listener', async () => {
    const server = await startDns([]);
    await server.server.stop();
    expect(await client().ask({ address: '127.0.0.1', port: server.port }, WWW)).toEqual({
      kind: 'failed',
      reason: 'unreachable',
      detail: 'the port is closed',
    });
  });

  it('does not delay closing the client', async () => {
    let reached: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (reached = resolve));
    const server = await startFakeDns(() => {
      reached();
      return null;
    });
    const closing = client();
    const asking = closing.ask(server, WWW);
    await arrived;
    closing.close();
    expect(await asking).toMatchObject({ kind: 'failed', reason: 'unreachable', detail: 'Vivarium is stopping' });
  });
});
