import type { Clock, Timer } from '../../base/clock.ts';
import { NO_FAULTS, type Fault, type FaultSource } from '../../model/fault.ts';
import { emptyAnswer, CLASS_IN, typeName } from '../wire/record.ts';
import type { DomainName } from '../../model/dns-name.ts';
import type { Exchange } from './exchange.ts';
import { guard } from '../wire/message-guard.ts';
import { markedAs, undoubled, wrongAnswer, zoneFor } from './wrong-answers.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

/** Maximum late replies waiting; further ones are lost, as under load. */
const WAITING_MAX = 1_000;

/** The third octet of the header has TC; its last two count the additional records (RFC 1035 §4.1.1). */
const FLAGS_AT = 2;
const TC = 0x02;
const ADDITIONALS_AT = 10;

export type Over = 'udp' | 'tcp' | 'https';

/** The treatment of a query affected by a break. */
export interface Struck {
  /** Null: no reply is sent. */
  reply: Buffer | null;
  /** Real milliseconds to wait before the reply. */
  delayMs: number;
  /** Over TCP: close the connection instead of replying. */
  closes: boolean;
}

/** The message as seen by a server that does not know OPT. */
function withoutOpt(message: Buffer, questionEnd: number): Buffer {
  const shorter = Buffer.from(message.subarray(0, questionEnd));
  shorter.writeUInt16BE(0, ADDITIONALS_AT);
  return shorter;
}

function truncated(reply: Buffer | null): Buffer | null {
  reply?.writeUInt8((reply[FLAGS_AT] ?? 0) | TC, FLAGS_AT);
  return reply;
}

/** A break of a name moves its records to the doubled name, which the break itself does not select. */
function ofDoubled({ question, giveBack }: FaultSource, name: DomainName | null, type: string): Fault | null {
  const fault = name === null ? null : (question?.({ name, type }) ?? null);
  if (fault === null || fault.entry === 'dns.zone-doubled') return fault;
  giveBack(fault);
  return null;
}

export type Strikes = ReturnType<typeof createStrikes>;

/**
 * Produces the faults of running breaks. Only names in zones here can be broken. A break decides the content of the answer, and the exchange writes the
 * octets, so faults agree over all transports, except those about one transport.
 */
export function createStrikes(options: {
  clock: Pick<Clock, 'realTimer'>;
  zones: () => ZoneSet;
  exchange: Exchange;
  faults?: FaultSource;
}) {
  const { clock, exchange, faults = NO_FAULTS } = options;
  const waiting = new Set<Timer>();

  function wrongAbout(message: Buffer) {
    const { question: select } = faults;
    const guarded = guard(message);
    if (select === null || guarded.kind !== 'query' || guarded.tsigAt !== null) return null;
    const { question } = guarded;
    const zones = options.zones();
    const zone = question.class === CLASS_IN ? zoneFor(zones, question) : null;
    if (zone === null) return null;
    const name = question.name.toLowerCase();
    const type = typeName(question.type);
    const fault = select({ name, type }) ?? ofDoubled(faults, undoubled(zone, name), type);
    if (fault === null) return null;
    const wrong = wrongAnswer(fault, { zones, zone, question });
    if (wrong === null) return unbroken(fault);
    return { wrong, fault, questionEnd: guarded.questionEnd };
  }

  function unbroken(fault: Fault): null {
    faults.giveBack(fault);
    return null;
  }

  return {
    /** Null: no break affects this message; the exchange answers it. */
    strike(message: Buffer, over: Over): Struck | null {
      if (faults.question === null) return null;
      const found = wrongAbout(message);
      if (found === null) return null;
      const { wrong, fault, questionEnd } = found;
      const transport = over === 'udp' ? 'udp' : 'tcp';
      const answered = (reply: Buffer | null): Struck => ({ reply, delayMs: 0, closes: false });
      switch (wrong.kind) {
        case 'answer':
          return answered(exchange(message, transport, (right) => markedAs(fault, wrong.answer(right))));
        case 'silence':
          return answered(null);
        case 'slow':
          return { reply: exchange(message, transport), delayMs: wrong.delayMs, closes: false };
        case 'truncated':
          if (over === 'udp')
            return answered(truncated(exchange(message, 'udp', () => markedAs(fault, emptyAnswer('NOERROR', true)))));
          return wrong.overTcp || over === 'https' ? unbroken(fault) : { reply: null, delayMs: 0, closes: true };
        case 'edns':
          // The query has no OPT.
          if (message.length === questionEnd) return unbroken(fault);
          return answered(
            wrong.rcode === 'FORMERR'
              ? exchange(withoutOpt(message, questionEnd), transport, () => emptyAnswer('FORMERR', false))
              : exchange(message, transport, () => markedAs(fault, emptyAnswer('BADVERS', false))),
          );
      }
    },
    /** Calls `send` after the delay, unless the server stops; returns false without a call if too many replies wait. */
    later(delayMs: number, send: () => void): boolean {
      if (waiting.size >= WAITING_MAX) return false;
      const timer = clock.realTimer(delayMs, () => {
        waiting.delete(timer);
        send();
      });
      waiting.add(timer);
      return true;
    },
    stop(): void {
      for (const timer of waiting) timer.cancel();
      waiting.clear();
    },
  };
}
