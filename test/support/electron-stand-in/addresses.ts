/**
 * Chromium cannot be given new standard schemes from outside, so pages of `app://vivarium/` are loaded from
 * `https://vivarium.app.electron.invalid/`: a separate, secure origin with storage and modules, like a privileged
 * scheme in Electron. The program sees only its own addresses. `.invalid` never resolves (RFC 6761 §6.4).
 */
const SUFFIX = '.electron.invalid';

/** The schemes that the program registered as standard and secure, which it may then handle. */
export const privilegedSchemes = new Set<string>();

export function toChromium(address: string): string {
  const [, scheme = '', host = '', rest = ''] = /^([a-z]+):\/\/([^/?#]*)(.*)$/is.exec(address) ?? [];
  if (!privilegedSchemes.has(scheme)) return address;
  return `https://${host}.${scheme}${SUFFIX}${rest === '' ? '/' : rest}`;
}

export function fromChromium(address: string): string {
  return address.replace(
    /^(blob:)?https:\/\/([^/?#]*)\.([a-z]+)\.electron\.invalid(?=[/?#]|$)/,
    (_all, blob: string | undefined, host: string, scheme: string) => `${blob ?? ''}${scheme}://${host}`,
  );
}

/** The origin of a document at `address`, serialized (RFC 6454); `null` is an opaque one. */
export function originOf(address: string): string {
  const [, scheme = '', host = ''] = /^([a-z]+):\/\/([^/?#]*)/i.exec(address) ?? [];
  if (privilegedSchemes.has(scheme)) return `${scheme}://${host}`;
  return URL.parse(address)?.origin ?? 'null';
}
