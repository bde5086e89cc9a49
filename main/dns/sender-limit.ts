import type { Clock } from '../base/clock.ts';
import { LruMap } from '../base/lru.ts';
import { ipv4Octets, ipv6Groups } from '../model/address.ts';

/** Datagrams per second of one network of senders, and at once: more than the devices of a house or an office send. */
export const SENDER_RATE = 200;
export const SENDER_BURST = 400;

/** Networks remembered; with more, the least recently seen begin anew. */
const NETWORKS_MAX = 1_024;

/**
 * Limits what is answered to one sender, by its network: the sender of a datagram can be forged, and answers must not
 * flood the forged one. Networks are those of response rate limiting in BIND and NSD: /24 and /56.
 */
export function createSenderLimit(clock: Pick<Clock, 'monotonic'>): (address: string) => boolean {
  const known = new LruMap<{ left: number; atMs: number }>(NETWORKS_MAX);
  return (address) => {
    const nowMs = clock.monotonic();
    const bucket = known.use(networkOf(address), () => ({ left: SENDER_BURST, atMs: nowMs }));
    bucket.left = Math.min(SENDER_BURST, bucket.left + ((nowMs - bucket.atMs) * SENDER_RATE) / 1_000);
    bucket.atMs = nowMs;
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  };
}

function networkOf(address: string): string {
  if (!address.includes(':')) return ipv4Octets(address).slice(0, 3).join('.');
  const [a = 0, b = 0, c = 0, d = 0] = ipv6Groups(address.split('%', 1)[0] ?? '');
  return [a, b, c, d & 0xff00].join(':');
}
