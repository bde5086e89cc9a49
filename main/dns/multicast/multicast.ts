import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { Clock, Timer } from '../../base/clock.ts';
import { codeOf } from '../../base/error-code.ts';
import type { Log } from '../../base/log.ts';
import { announcement, answerMulticast, hostOfLabel, probe, readMulticast, losesName } from './multicast-message.ts';
import type { Announced } from './multicast-message.ts';
import { QUESTION_TYPES } from '../wire/record.ts';

/** RFC 6762 §3. */
const GROUP = { udp4: '224.0.0.251', udp6: 'ff02::fb' } as const;
export const MULTICAST_PORT = 5353;

/** RFC 6762 §8.1, §8.3: three probes, then two announcements. */
const PROBES = 3;
const PROBE_MS = 250;
const ANNOUNCE_AGAIN_MS = 1_000;

/** RFC 6762 §6: the minimum time between two multicast answers. */
const PAUSE_MS = 1_000;

/** RFC 6762 §17. */
const MESSAGE_OCTETS_MAX = 9_000;

/** Names to try if other machines have them: `vivarium` to `vivarium-9`. */
const NAMES_MAX = 9;

/** The pause after the last of them, so that a hostile machine causes few probes. */
const RETRY_MS = 60_000;

export type Announcer = ReturnType<typeof announceHost>;

/**
 * Announces a name and its page in the network of `address` (RFC 6762, 6763), under another name if the first is taken.
 * It announces only that address: existing libraries announce those of all interfaces, or run programs and change the
 * error stacks of the whole process (README.md).
 */
export function announceHost(options: {
  label: string;
  /** The interface to announce on, and its address: A records in the group of IPv4, or AAAA records in that of IPv6. */
  interface: string;
  address: string;
  port: number;
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  log: Pick<Log, 'info' | 'warn'>;
  /** Whether to answer a sender that asks for a unicast answer. */
  admits: (address: string) => boolean;
  onChanged: () => void;
}) {
  const { address, port, clock, log, admits, onChanged } = options;
  const group = joinGroup(options, { receive, joined: () => probeFrom(1), failed: () => timer?.cancel() });
  let tried = 1;
  let announced: Announced = { label: options.label, address, port };
  let isAnnounced = false;
  /** After the last name, nothing is read until the next attempt. */
  let isResting = false;
  let sentMs = Number.NEGATIVE_INFINITY;
  let timer: Timer | null = null;

  function after(delayMs: number, then: () => void): void {
    timer?.cancel();
    timer = clock.realTimer(delayMs, then);
  }

  function probeFrom(count: number): void {
    group.send(probe(announced));
    after(PROBE_MS, () => (count < PROBES ? probeFrom(count + 1) : announce()));
  }

  function announce(): void {
    isAnnounced = true;
    log.info('Announced by multicast DNS', { name: hostOfLabel(announced.label), address });
    group.send(announcement(announced));
    after(ANNOUNCE_AGAIN_MS, () => group.send(announcement(announced)));
    onChanged();
  }

  /** Probes for the name with that number. */
  function claim(number: number): void {
    tried = number;
    announced = { ...announced, label: number === 1 ? options.label : `${options.label}-${number}` };
    probeFrom(1);
  }

  function yieldName(): void {
    timer?.cancel();
    isAnnounced = false;
    onChanged();
    if (tried === NAMES_MAX) {
      log.warn('No name is free to announce by multicast DNS', { tried });
      isResting = true;
      after(RETRY_MS, () => {
        isResting = false;
        claim(1);
      });
      return;
    }
    claim(tried + 1);
  }

  function receive(message: Buffer, from: RemoteInfo): void {
    if (isResting || message.length > MESSAGE_OCTETS_MAX) return;
    const read = readMulticast(message);
    if (read === null) return;
    if (losesName(read, announced, isAnnounced)) {
      yieldName();
      return;
    }
    if (!isAnnounced) return;
    const legacy = from.port !== MULTICAST_PORT;
    const answer = answerMulticast(read, announced, { legacy });
    if (answer === null) return;
    if (legacy || read.questions.every(({ unicast }) => unicast)) {
      if (admits(from.address)) group.send(answer, from);
      return;
    }
    const nowMs = clock.monotonic();
    // A machine that probes the same name waits no longer than this.
    const isProbe = read.questions.some(({ type }) => type === QUESTION_TYPES.ANY);
    if (nowMs - sentMs < (isProbe ? PROBE_MS : PAUSE_MS)) return;
    sentMs = nowMs;
    group.send(answer);
  }

  return {
    /** The announced name, `vivarium.local`; null until the probes have shown that it is free. */
    name: (): string | null => (isAnnounced ? hostOfLabel(announced.label) : null),
    /** Withdraws the name, and closes the socket. */
    async close(): Promise<void> {
      timer?.cancel();
      const goodbye = isAnnounced ? announcement(announced, 0) : null;
      isAnnounced = false;
      await group.close(goodbye);
    },
  };
}

/** The socket of the multicast group on one interface. */
function joinGroup(
  options: { interface: string; address: string; log: Pick<Log, 'warn'> },
  on: { receive: (message: Buffer, from: RemoteInfo) => void; joined: () => void; failed: () => void },
) {
  const family = options.address.includes(':') ? 'udp6' : 'udp4';
  /** The interface as its own address, or as IPv6 names it. */
  const local = family === 'udp4' ? options.address : `::${scopeOf(options.interface)}`;
  const group = family === 'udp4' ? GROUP.udp4 : `${GROUP.udp6}${scopeOf(options.interface)}`;
  const socket = createSocket({ type: family, reuseAddr: true, ipv6Only: family === 'udp6' });
  let isClosed = false;

  socket.on('message', on.receive);
  socket.on('error', (error) => {
    options.log.warn('Multicast DNS is not available; other devices need the address', {
      code: codeOf(error) ?? error.message,
    });
    on.failed();
    isClosed = true;
    socket.close();
  });
  socket.once('listening', () => {
    if (join(socket, GROUP[family], local)) on.joined();
    else socket.emit('error', new Error('The interface has no multicast.'));
  });
  // Bound to the group, it receives nothing sent to this machine alone; Windows cannot bind to a group.
  socket.bind({ port: MULTICAST_PORT, ...(process.platform !== 'win32' && { address: group }) });

  return {
    send(message: Buffer, to: { port: number; address: string } = { port: MULTICAST_PORT, address: group }): void {
      // Clients repeat a question if its answer is lost, for example because the interface is gone.
      if (!isClosed) socket.send(message, to.port, to.address, () => undefined);
    },
    /** Sends a last message before it closes. */
    async close(last: Buffer | null): Promise<void> {
      if (isClosed) return;
      if (last !== null)
        await new Promise<void>((resolve) => socket.send(last, MULTICAST_PORT, group, () => resolve()));
      isClosed = true;
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** The zone of an address on the interface (RFC 4007 §11): its name, but on Windows its number. */
function scopeOf(name: string): string {
  if (process.platform !== 'win32') return `%${name}`;
  const scopes = (networkInterfaces()[name] ?? []).map((each) => (each.family === 'IPv6' ? (each.scopeid ?? 0) : 0));
  return `%${Math.max(0, ...scopes)}`;
}

function join(socket: Socket, group: string, local: string): boolean {
  try {
    socket.addMembership(group, local);
    socket.setMulticastInterface(local);
    socket.setMulticastTTL(255);
    return true;
  } catch {
    return false;
  }
}
