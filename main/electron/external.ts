/** As much as any address of ours; a longer one is an attack on some program's buffer. */
const URL_LENGTH_MAX = 2_048;

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The address that may be handed to the system's browser, normalized, or null. `https:` anywhere; `http:` on this
 * machine and at Vivarium's own ports; never with a user name or password; no other scheme, because the system would
 * start whatever program is registered for it.
 */
export function externalAddress(text: string, ownPorts: readonly number[]): string | null {
  const url = text.length <= URL_LENGTH_MAX ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (url.protocol === 'https:') return url.href;
  if (url.protocol !== 'http:') return null;
  const { hostname, port } = url;
  const isLocal = LOOPBACK_HOSTS.has(hostname) || hostname.endsWith('.localhost');
  return isLocal || ownPorts.includes(Number(port === '' ? 80 : port)) ? url.href : null;
}
