import { randomInt } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { createTurns } from '../base/turns.ts';
import { RCODES } from './answer.ts';
import { askTcp, askUdp, type ServerAddress, type TransportFailure } from './client-transport.ts';
import { readResponse, type Response, type ResponseRecord } from './message-reader.ts';
import { labelOctets, type DomainName } from '../model/dns-name.ts';
import { CLASS_IN, QUESTION_TYPES } from './record.ts';

/** Times that a question is sent over UDP: a datagram may be lost, a server that misses three does not answer. */
const UDP_ATTEMPTS = 3;

/** Real milliseconds that one datagram is waited for; `dig` waits 5 s, `resolv.conf` too, for servers farther away. */
const UDP_TIMEOUT_MS = 1_500;
const TCP_TIMEOUT_MS = 4_000;

/** Questions on the wire at a time; each has a socket. */
const IN_FLIGHT_MAX = 64;
/** Questions that wait for their turn; more than 1,000 domains ask when they are all verified at once. */
const WAITING_MAX = 20_000;

/** Octets of a reply over UDP that we take (DNS Flag Day 2020). */
const UDP_OCTETS_TAKEN = 1232;

const FLAG_RD = 0x0100;

export interface DnsQuestion {
  name: DomainName;
  /** As on the wire. */
  type: number;
}

/** What came of a question. Never a rejection: what happens on the network is a value. */
export type DnsResult =
  | {
      kind: 'answered';
      /** As a mnemonic; `RCODE11` where there is none here. */
      rcode: string;
      answers: readonly ResponseRecord[];
      authority: readonly ResponseRecord[];
      additional: readonly ResponseRecord[];
      transport: 'udp' | 'tcp';
      id: number;
      /** Those that are set, as `dig` writes them. */
      flags: readonly string[];
      /** The response's length. */
      octets: number;
      /** Octets of UDP that the server takes, where it knows EDNS. */
      ednsOctets?: number;
      /** What the server says about an error (RFC 8914). */
      detail?: string;
    }
  | { kind: 'failed'; reason: TransportFailure['failure']; detail?: string };

export interface DnsClient {
  /**
   * Asks one server, over UDP and, when the reply is cut off, over TCP (RFC 7766 §5). Sent up to three times, 1.5 s
   * apart; over TCP once, for 4 s. Time is real time.
   */
  ask(server: ServerAddress, question: DnsQuestion): Promise<DnsResult>;
  /** The same over one transport alone, for whoever wants to know about that; over UDP, the reply may be cut off. */
  askOver(transport: 'udp' | 'tcp', server: ServerAddress, question: DnsQuestion): Promise<DnsResult>;
  /** Ends what is on the way as `unreachable`. */
  close(): void;
}

export function createDnsClient(clock: Pick<Clock, 'realTimer'>): DnsClient {
  const stopping = new AbortController();
  const turns = createTurns(IN_FLIGHT_MAX);

  async function ask(server: ServerAddress, question: DnsQuestion): Promise<DnsResult> {
    if (stopping.signal.aborted) return { kind: 'failed', reason: 'unreachable', detail: 'Vivarium is stopping' };
    if (turns.waiting() >= WAITING_MAX) {
      return { kind: 'failed', reason: 'timeout', detail: `more than ${WAITING_MAX} questions are waiting` };
    }
    return turns.take(() => exchange(server, question));
  }

  async function exchange(server: ServerAddress, question: DnsQuestion): Promise<DnsResult> {
    let edns = true;
    let result = await overUdp(server, question, edns);
    if (!('failure' in result) && refusesEdns(result)) {
      edns = false;
      result = await overUdp(server, question, edns);
    }
    if ('failure' in result) return failed(result);
    return result.truncated ? overTcp(server, question, edns) : answered(result, 'udp');
  }

  async function overTcp(server: ServerAddress, question: DnsQuestion, edns: boolean): Promise<DnsResult> {
    const { query, read } = prepare(question, edns);
    const whole = await askTcp({ server, query, read, timeoutMs: TCP_TIMEOUT_MS, clock, signal: stopping.signal });
    if ('failure' in whole) return failed(whole);
    return whole.truncated ? failed({ failure: 'malformed' }) : answered(whole, 'tcp');
  }

  async function overUdp(server: ServerAddress, question: DnsQuestion, edns: boolean) {
    let last: TransportFailure = { failure: 'timeout' };
    for (let attempt = 0; attempt < UDP_ATTEMPTS; attempt++) {
      let broken = false;
      const { query, read } = prepare(question, edns, () => (broken = true));
      const wait = { timeoutMs: UDP_TIMEOUT_MS, clock, signal: stopping.signal };
      const reply = await askUdp({ server, query, read, ...wait });
      if (!('failure' in reply)) return reply;
      last = broken && reply.failure === 'timeout' ? { failure: 'malformed' } : reply;
      if (reply.failure !== 'timeout') return last;
    }
    return last;
  }

  return {
    ask,
    async askOver(transport, server, question) {
      if (transport === 'tcp') return overTcp(server, question, true);
      const result = await overUdp(server, question, true);
      return 'failure' in result ? failed(result) : answered(result, 'udp');
    },
    close: () => stopping.abort(),
  };
}

/** A query with an id that nobody can guess, and the reader that knows its reply by id and question (RFC 5452 §9.1). */
function prepare(question: DnsQuestion, edns: boolean, onBroken?: () => void) {
  const id = randomInt(0x1_0000);
  const read = (message: Buffer): Response | null => {
    const response = readResponse(message);
    if (response === null) {
      if (message.length >= 2 && message.readUInt16BE(0) === id) onBroken?.();
      return null;
    }
    return response.id === id && repeats(response, question) ? response : null;
  };
  return { query: writeQuery(id, question, edns), read };
}

/** Whether the response is to the question. Only errors may come without one: some servers answer them with a header alone. */
function repeats({ question, rcode }: Response, asked: DnsQuestion): boolean {
  if (question === null) return rcode !== RCODES.NOERROR && rcode !== RCODES.NXDOMAIN;
  return question.name === asked.name && question.type === asked.type && question.class === CLASS_IN;
}

/** RFC 6891 §7: a server that does not know EDNS says FORMERR or NOTIMP without OPT; then it is asked without. */
const refusesEdns = ({ rcode, edns }: Response): boolean =>
  rcode === RCODES.BADVERS || (!edns && (rcode === RCODES.FORMERR || rcode === RCODES.NOTIMP));

const failed = ({ failure, detail }: TransportFailure): DnsResult => ({
  kind: 'failed',
  reason: failure,
  ...(detail !== undefined && { detail }),
});

const RCODE_NAMES = new Map<number, string>(Object.entries(RCODES).map(([name, code]) => [code, name]));

const answered = (response: Response, transport: 'udp' | 'tcp'): DnsResult => {
  const { rcode, answer, authority, additional, id, flags, octets, ednsOctets, detail } = response;
  return {
    kind: 'answered',
    rcode: RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`,
    answers: answer,
    authority,
    additional,
    transport,
    id,
    flags,
    octets,
    ...(ednsOctets !== undefined && { ednsOctets }),
    ...(detail !== undefined && { detail }),
  };
};

/** A query with recursion desired, and EDNS unless told otherwise. */
function writeQuery(id: number, { name, type }: DnsQuestion, edns: boolean): Buffer {
  const labels = name === '' ? [] : name.split('.').map((label) => Buffer.from(labelOctets(label), 'latin1'));
  const wireName = Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0]),
  ]);
  const uint16 = (...values: number[]) => Buffer.from(values.flatMap((value) => [value >>> 8, value & 0xff]));
  const opt = [Buffer.from([0]), uint16(QUESTION_TYPES.OPT, UDP_OCTETS_TAKEN, 0, 0, 0)];
  const header = uint16(id, FLAG_RD, 1, 0, 0, edns ? 1 : 0);
  return Buffer.concat([header, wireName, uint16(type, CLASS_IN), ...(edns ? opt : [])]);
}
