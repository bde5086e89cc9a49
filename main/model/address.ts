/** RFC 4291 §2.5.5.2: an IPv4 client of a dual-stack socket shows up as `::ffff:127.0.0.1`. */
const MAPPED_IPV4 = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** The longest text of an IPv6 address (RFC 4291 §2.2, with an IPv4 tail). */
const ADDRESS_LENGTH_MAX = 45;

/**
 * One spelling per client: an IPv4-mapped address becomes the IPv4 address, an IPv6 zone (`%eth0`) is dropped.
 * A socket that is gone already has no address and yields `unknown`.
 */
export function clientAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const [bare = ''] = address.split('%', 1);
  return (MAPPED_IPV4.exec(bare)?.[1] ?? bare.toLowerCase()).slice(0, ADDRESS_LENGTH_MAX);
}
