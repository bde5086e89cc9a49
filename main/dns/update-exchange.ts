import type { EpochMs } from '../base/clock.ts';
import type { DomainName } from '../model/dns-name.ts';
import { DETAIL_CODES, type Rcode, RCODES } from './answer.ts';
import { HEADER_OCTETS } from './message-guard.ts';
import { MESSAGE_OCTETS_MAX, MessageWriter } from './message-writer.ts';
import { TYPE_CODES } from './record.ts';
import { checkTsig } from './tsig.ts';
import { readUpdate, type UpdateMessage } from './update-message.ts';

/** Signed requests whose replies are kept, against replays. */
const REPLIES_MAX = 10_000;

/** The result of an update; `reason` is a sentence of ASCII. */
export interface UpdateResult {
  rcode: Rcode;
  reason?: string;
}

/** The zones that programs may change. */
export interface Updatable {
  /** The secret of a zone's key, which has the zone's name; null without such a zone or key. */
  secretOf(key: DomainName): Buffer | null;
  hasZone(name: DomainName): boolean;
  /** Applies all of an update or nothing. */
  apply(update: UpdateMessage): UpdateResult;
  /** Real time: signatures have it, whatever the app's clock says. */
  realNow(): EpochMs;
}

/**
 * Dynamic updates (RFC 2136), each signed with its zone's key (RFC 8945). A request that was answered before gets the
 * same reply and changes nothing, as long as its signature's time would let it through.
 */
export function createUpdateExchange(zones: Updatable): (message: Buffer) => Buffer {
  const writer = new MessageWriter();
  const answered = new Map<string, { reply: Buffer; untilMs: EpochMs }>();

  function write(message: Buffer, update: UpdateMessage | null, { rcode, reason }: UpdateResult): Buffer {
    const questionEnd = update?.zoneEnd ?? HEADER_OCTETS;
    const flags = 0x8000 | (message.readUInt16BE(2) & 0x7800) | RCODES[rcode];
    const name = update?.zone.name ?? '';
    writer.begin({ query: message, questionEnd, name, flags, limit: MESSAGE_OCTETS_MAX, reserved: 0 });
    if (update?.edns === true) {
      const detail = reason === undefined ? undefined : { code: DETAIL_CODES.other, text: asciiText(reason) };
      const opt = { udpOctetsMax: MESSAGE_OCTETS_MAX, extendedRcode: 0, dnssecOk: false, cookie: null };
      writer.opt({ ...opt, ...(detail !== undefined && { detail }) });
    }
    return writer.finish();
  }

  function remember(mac: string, reply: Buffer, untilMs: EpochMs): void {
    const nowMs = zones.realNow();
    for (const [oldest, { untilMs }] of answered) {
      if (answered.size < REPLIES_MAX && untilMs > nowMs) break;
      answered.delete(oldest);
    }
    answered.set(mac, { reply, untilMs });
  }

  return (message) => {
    const update = readUpdate(message);
    if (update === null) return write(message, null, { rcode: 'FORMERR' });
    if (update === 'too many') return write(message, null, { rcode: 'REFUSED' });
    const { zone, tsig } = update;
    if (tsig === null) return write(message, update, { rcode: 'REFUSED', reason: UNSIGNED });
    const signature = checkTsig(message, tsig, zones.secretOf(tsig.key), zones.realNow());
    if (signature.kind === 'malformed') return write(message, null, { rcode: 'FORMERR' });
    if (signature.kind === 'refused') return signature.sign(write(message, update, { rcode: 'NOTAUTH' }));
    const mac = tsig.mac.toString('latin1');
    const before = answered.get(mac);
    if (before !== undefined) return before.reply;
    const reply = signature.sign(write(message, update, resultOf(update)));
    remember(mac, reply, (tsig.timeSeconds + tsig.fudgeSeconds) * 1000);
    return reply;

    function resultOf(asked: UpdateMessage): UpdateResult {
      if (zone.type !== TYPE_CODES.SOA) return { rcode: 'FORMERR' };
      if (!zones.hasZone(zone.name)) return { rcode: 'NOTAUTH' };
      // A key is good for the zone of its name only.
      if (tsig?.key !== zone.name) return { rcode: 'REFUSED', reason: UNSIGNED };
      return zones.apply(asked);
    }
  };
}

const UNSIGNED = 'An update is signed with the key of its zone: vivarium zones update-key';

/** The limit of an extended error's text. */
const asciiText = (text: string): string => text.replace(/[^ -~]/g, "'").slice(0, 200);
