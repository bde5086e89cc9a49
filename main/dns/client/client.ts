import { randomInt } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { createTurns } from '../../base/turns.ts';
import { RCODES, CLASS_IN, QUESTION_TYPES } from '../wire/record.ts';
import { readResponse, type Response, type ResponseRecord } from '../wire/message-reader.ts';
import { wireName, type DomainName } from '../../model/dns-name.ts';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { codeOf } from '../../base/error-code.ts';

/** Attempts over UDP: datagrams get lost, and a server that misses three is down. */
const UDP_ATTEMPTS = 3;

/** Real milliseconds per datagram. Shorter than the 5 s of `dig` and `resolv.conf`, because servers here are near. */
const UDP_TIMEOUT_MS = 1_500;
const TCP_TIMEOUT_MS = 4_000;

/** Concurrent queries; each uses a socket. */
const IN_FLIGHT_MAX = 64;
/** Queued queries; enough for more than 1,000 domains verified at once. */
const WAITING_MAX = 20_000;

/** The UDP payload size that this client advertises (DNS Flag Day 2020). */
const UDP_OCTETS_TAKEN = 1232;

const FLAG_RD = 0x0100;

export interface DnsQuestion {
  name: DomainName;
  /** The wire code. */
  type: number;
  /** Ask for signatures and proofs (RFC 3225). */
  dnssecOk?: boolean;
}

/** The result of a query. Network failures are values, not rejections. */
export type DnsResult =
  | ({
      kind: 'answered';
      /** As a mnemonic; `RCODE11` for codes without one here. */
      rcode: string;
      answers: readonly ResponseRecord[];
      transport: 'udp' | 'tcp';
    } & Pick<Response, 'authority' | 'additional' | 'id' | 'flags' | 'octets' | 'ednsOctets' | 'detail'>)
  | { kind: 'failed'; reason: TransportFailure['failure']; detail?: string };

export type DnsClient = ReturnType<typeof createDnsClient>;

export function createDnsClient(clock: Pick<Clock, 'realTimer'>) {
  const stopping = new AbortController();
  const turns = createTurns(IN_FLIGHT_MAX);

  async function ask(server: ServerAddress, question: DnsQuestion): Promise<DnsResult> {
    if (stopping.signal.aborted) return { kind: 'failed', reason: 'unreachable', detail: 'Vivarium is stopping' };
    if (turns.waiting() >= WAITING_MAX) {
      return { kind: 'failed', reason: 'timeout', detail: `more than ${WAITING_MAX} questions are waiting` };
    }
    return turns.enqueue(() => exchange(server, question));
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
    /**
     * Queries one server over UDP, and over TCP when the reply is truncated (RFC 7766 §5). Sends up to three datagrams,
     * 1.5 s apart; over TCP once, for 4 s. All times are real time.
     */
    ask,
    /** Queries over a single transport; a UDP reply may be truncated. */
    async askOver(transport: 'udp' | 'tcp', server: ServerAddress, question: DnsQuestion): Promise<DnsResult> {
      if (transport === 'tcp') return overTcp(server, question, true);
      const result = await overUdp(server, question, true);
      return 'failure' in result ? failed(result) : answered(result, 'udp');
    },
    /** Ends pending queries as `unreachable`. */
    close: (): void => stopping.abort(),
  };
}

/** A query with an unpredictable id, and a reader that matches replies by id and question (RFC 5452 §9.1). */
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

/** Whether the response matches the question. Only errors may omit it: some servers answer them with a bare header. */
function repeats({ question, rcode }: Response, asked: DnsQuestion): boolean {
  if (question === null) return rcode !== RCODES.NOERROR && rcode !== RCODES.NXDOMAIN;
  return question.name === asked.name && question.type === asked.type && question.class === CLASS_IN;
}

/** RFC 6891 §7: servers without EDNS answer FORMERR or NOTIMP without OPT; retry without EDNS. */
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
    ...{ kind: 'answered', rcode: RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`, transport },
    ...{ answers: answer, authority, additional, id, flags, octets },
    ...(ednsOctets !== undefined && { ednsOctets }),
    ...(detail !== undefined && { detail }),
  };
};

/** A query with RD set and, by default, EDNS. */
function writeQuery(id: number, { name, type, dnssecOk }: DnsQuestion, edns: boolean): Buffer {
  const uint16 = (...values: number[]) => Buffer.from(values.flatMap((value) => [value >>> 8, value & 0xff]));
  const opt = [Buffer.from([0]), uint16(QUESTION_TYPES.OPT, UDP_OCTETS_TAKEN, 0, dnssecOk === true ? 0x8000 : 0, 0)];
  const header = uint16(id, FLAG_RD, 1, 0, 0, edns ? 1 : 0);
  return Buffer.concat([header, wireName(name), uint16(type, CLASS_IN), ...(edns ? opt : [])]);
}

/** Where a DNS server listens. */
export interface ServerAddress {
  address: string;
  port: number;
}

export type TransportFailure = { failure: 'timeout' | 'unreachable' | 'malformed'; detail?: string };

export interface Attempt<Reply> {
  server: ServerAddress;
  query: Buffer;
  /** Real milliseconds until the attempt times out. */
  timeoutMs: number;
  clock: Pick<Clock, 'realTimer'>;
  /** Aborting ends the attempt. */
  signal: AbortSignal;
  /** Decodes a message; null when it is not the reply to this query. */
  read: (message: Buffer) => Reply | null;
}

const LENGTH_OCTETS = 2;

/**
 * One query over UDP, from an ephemeral port that the system picks at random (RFC 5452 §9.2). The socket is connected:
 * the system then drops datagrams from other senders and reports closed ports. Ignores messages that are not the reply.
 */
export function askUdp<Reply extends object>(attempt: Attempt<Reply>): Promise<Reply | TransportFailure> {
  const { server, query, read } = attempt;
  const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
  return settle(
    attempt,
    () => socket.close(),
    (done, failed) => {
      socket.on('error', failed);
      socket.on('message', (message) => {
        const reply = read(message);
        if (reply !== null) done(reply);
      });
      socket.connect(server.port, server.address, () => {
        socket.send(query, (error) => {
          if (error !== null) failed(error);
        });
      });
    },
  );
}

/** One query over TCP, on its own connection (RFC 7766). The first message must be the reply. */
export function askTcp<Reply extends object>(attempt: Attempt<Reply>): Promise<Reply | TransportFailure> {
  const { server, query, read } = attempt;
  const socket = connect({ host: server.address, port: server.port });
  return settle(
    attempt,
    () => socket.destroy(),
    (done, failed) => {
      const chunks: Buffer[] = [];
      let octets = 0;
      socket.on('error', failed);
      socket.on('close', () => failed(new Error('the connection was closed before the reply')));
      socket.on('connect', () => {
        const length = Buffer.alloc(LENGTH_OCTETS);
        length.writeUInt16BE(query.length);
        socket.write(Buffer.concat([length, query]));
      });
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        octets += chunk.length;
        if (octets < LENGTH_OCTETS) return;
        const received = Buffer.concat(chunks.splice(0));
        chunks.push(received);
        // Memory is bounded by one message of 65,535 octets and one more chunk.
        const end = LENGTH_OCTETS + received.readUInt16BE(0);
        if (octets < end) return;
        done(read(received.subarray(LENGTH_OCTETS, end)) ?? { failure: 'malformed' });
      });
    },
  );
}

/** Settles once, with the first result, and closes the socket. */
function settle<Reply extends object>(
  { timeoutMs, clock, signal }: Attempt<Reply>,
  close: () => void,
  begin: (done: (reply: Reply | TransportFailure) => void, failed: (error: Error) => void) => void,
): Promise<Reply | TransportFailure> {
  return new Promise((resolve) => {
    let settled = false;
    const done = (result: Reply | TransportFailure) => {
      if (settled) return;
      settled = true;
      timer.cancel();
      signal.removeEventListener('abort', abort);
      close();
      resolve(result);
    };
    const failed = (error: Error) => done({ failure: 'unreachable', detail: describe(error) });
    const abort = () => done({ failure: 'unreachable', detail: 'Vivarium is stopping' });
    const timer = clock.realTimer(timeoutMs, () => done({ failure: 'timeout' }));
    signal.addEventListener('abort', abort, { once: true });
    begin(done, failed);
    if (signal.aborted) abort();
  });
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the port is closed',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to its network',
  ECONNRESET: 'it closed the connection',
};

const describe = (error: Error): string => REASONS[codeOf(error) ?? ''] ?? error.message;
