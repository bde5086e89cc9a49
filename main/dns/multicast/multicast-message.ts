import { addressBytes } from '../../model/address.ts';
import { wireName, type DomainName } from '../../model/dns-name.ts';
import { HEADER_OCTETS } from '../wire/message-guard.ts';
import { CLASS_IN, QUESTION_TYPES, TYPE_CODES } from '../wire/record.ts';
import { unlessMalformed, WireReader } from '../wire/wire-reader.ts';
import { octetsOf, typeBitmap } from '../wire/canonical.ts';

/** RFC 6762 §10: for records with an address or a host. */
const TTL_SECONDS = 120;
/** RFC 6762 §6.7: for clients that keep no multicast cache. */
const LEGACY_TTL_SECONDS = 10;

/** RFC 6762 §10.2, §5.4: the top bit of the class, which means "unique records" or "answer by unicast". */
const TOP_BIT = 0x8000;
const FLAGS_ANSWER = 0x8400;

/** Maximum number of records read from one message. */
const RECORDS_MAX = 100;

const SERVICE: DomainName = '_http._tcp.local';
const SERVICES: DomainName = '_services._dns-sd._udp.local';

/** The announced name of this machine, its address, and its web page. */
export interface Announced {
  /** `vivarium`, with a number if another machine has that name. */
  label: string;
  address: string;
  port: number;
}

export const hostOfLabel = (label: string): DomainName => `${label}.local`;
const instanceOf = ({ label }: Announced): DomainName => `${label}.${SERVICE}`;

/** The relevant parts of a multicast DNS message. */
export interface MulticastMessage {
  id: number;
  questions: readonly { name: DomainName; type: number; unicast: boolean }[];
  /** The A and AAAA records of a response; none for a query. */
  addresses: readonly { name: DomainName; type: number; data: Buffer }[];
}

export const readMulticast = (message: Buffer): MulticastMessage | null =>
  message.length < HEADER_OCTETS ? null : unlessMalformed(() => new MulticastReader(message).read());

class MulticastReader extends WireReader {
  read(): MulticastMessage {
    const isAnswer = (this.message.readUInt16BE(2) & 0x8000) !== 0;
    const questions = Array.from({ length: this.#count(4) }, () => {
      const [name, type, kind] = [this.name(), this.uint16(), this.uint16()];
      return { name, type, unicast: (kind & TOP_BIT) !== 0 };
    });
    const addresses = Array.from({ length: isAnswer ? this.#count(6) + this.#count(8) + this.#count(10) : 0 }, () => {
      const [name, type] = [this.name(), this.uint16()];
      this.octets(6);
      const data = Buffer.from(this.octets(this.uint16()));
      return type === TYPE_CODES.A || type === TYPE_CODES.AAAA ? [{ name, type, data }] : [];
    });
    return { id: this.message.readUInt16BE(0), questions: isAnswer ? [] : questions, addresses: addresses.flat() };
  }

  #count(offset: number): number {
    return Math.min(this.message.readUInt16BE(offset), RECORDS_MAX);
  }
}

/**
 * Whether another machine owns the announced name (RFC 6762 §8.1, §9). Before the announcement, any other one wins;
 * after it, the one with the higher address keeps the name.
 */
export function losesName({ addresses }: MulticastMessage, announced: Announced, isAnnounced: boolean): boolean {
  const own = hostRecord(announced);
  return addresses
    .filter(({ name, type, data }) => name === own.name && type === own.type && !data.equals(own.data))
    .some(({ data }) => !isAnnounced || Buffer.compare(data, own.data) > 0);
}

interface WireRecord {
  name: DomainName;
  type: number;
  data: Buffer;
  /** Whether other machines may also have records of this name and type. */
  shared?: true;
}

const hostRecord = ({ label, address }: Announced): WireRecord => ({
  name: hostOfLabel(label),
  type: address.includes(':') ? TYPE_CODES.AAAA : TYPE_CODES.A,
  data: addressBytes(address),
});

/** RFC 6762 §6.1: states that the name has no other address types, so clients need not wait for them. */
function onlyAddress(announced: Announced): WireRecord {
  const { name, type } = hostRecord(announced);
  const data = Buffer.concat([wireName(name), Buffer.from(typeBitmap([type]), 'latin1')]);
  return { name, type: QUESTION_TYPES.NSEC, data };
}

/** The page as a service (RFC 6763 §4). */
function serviceRecords(announced: Announced): WireRecord[] {
  const instance = instanceOf(announced);
  const srv = Buffer.alloc(6);
  srv.writeUInt16BE(announced.port, 4);
  const path = Buffer.from('path=/', 'latin1');
  return [
    { name: SERVICES, type: TYPE_CODES.PTR, data: wireName(SERVICE), shared: true },
    { name: SERVICE, type: TYPE_CODES.PTR, data: wireName(instance), shared: true },
    { name: instance, type: TYPE_CODES.SRV, data: Buffer.concat([srv, wireName(hostOfLabel(announced.label))]) },
    { name: instance, type: TYPE_CODES.TXT, data: Buffer.concat([Buffer.of(path.length), path]) },
  ];
}

/** The response to questions about announced records; null if there are none. */
export function answerMulticast(
  { id, questions }: Pick<MulticastMessage, 'id' | 'questions'>,
  announced: Announced,
  { legacy }: { legacy: boolean },
): Buffer | null {
  const host = hostRecord(announced);
  const all = [host, ...serviceRecords(announced)];
  const asked = questions.flatMap(({ name, type }) => {
    const found = all.filter((record) => record.name === name && (record.type === type || type === QUESTION_TYPES.ANY));
    return found.length === 0 && name === host.name ? [onlyAddress(announced)] : found;
  });
  if (asked.length === 0) return null;
  const additional = [host, onlyAddress(announced)].filter(({ type }) => asked.every((record) => record.type !== type));
  const [question] = questions;
  if (!legacy || question === undefined) return encode({ answers: asked, additional });
  return encode({ id, question, answers: asked, additional, ttlSeconds: LEGACY_TTL_SECONDS });
}

/** Announces all records; with `ttlSeconds` 0, withdraws them (RFC 6762 §10.1). */
export const announcement = (announced: Announced, ttlSeconds = TTL_SECONDS): Buffer =>
  encode({ answers: [hostRecord(announced), ...serviceRecords(announced)], additional: [], ttlSeconds });

/** A probe for the name (RFC 6762 §8.1). It asks for multicast, because the socket receives no unicast. */
export function probe(announced: Announced): Buffer {
  const name = hostOfLabel(announced.label);
  return encode({
    question: { name, type: QUESTION_TYPES.ANY },
    authority: [hostRecord(announced)],
    answers: [],
    additional: [],
  });
}

function encode(message: {
  id?: number;
  question?: { name: DomainName; type: number };
  answers: readonly WireRecord[];
  authority?: readonly WireRecord[];
  additional: readonly WireRecord[];
  ttlSeconds?: number;
}): Buffer {
  const { id = 0, question, answers, authority = [], additional, ttlSeconds = TTL_SECONDS } = message;
  const legacy = id !== 0;
  const counts = [question === undefined ? 0 : 1, answers.length, authority.length, additional.length];
  // A probe only proposes its records, and one-shot clients do not know the top bit.
  const unique = legacy || authority.length > 0 ? 0 : TOP_BIT;
  const octets = octetsOf((to) => {
    for (const number of [id, answers.length === 0 ? 0 : FLAGS_ANSWER, ...counts]) to.uint16(number);
    if (question !== undefined) {
      to.name(question.name);
      to.uint16(question.type);
      to.uint16(CLASS_IN);
    }
    for (const { name, type, data, shared } of [...answers, ...authority, ...additional]) {
      to.name(name);
      to.uint16(type);
      to.uint16(CLASS_IN | (shared === true ? 0 : unique));
      to.uint32(ttlSeconds);
      to.uint16(data.length);
      to.text(data.toString('latin1'));
    }
  });
  return Buffer.from(octets, 'latin1');
}
