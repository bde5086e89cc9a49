/** Parameters of Punycode (RFC 3492 §5). */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE = 0x80;
const CODE_MAX = 0x10ffff;

const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A hostname as people write it: A-labels as Unicode, where that spells the same name again. Look-alike letters make it
 * no identity, so an A-label is shown beside it.
 */
export function unicodeOf(hostname: string): string {
  if (!hostname.includes('xn--')) return hostname;
  const name = hostname
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decoded(label.slice('xn--'.length)) ?? label) : label))
    .join('.');
  return URL.parse(`http://${name}`)?.hostname === hostname ? name : hostname;
}

const { compare } = new Intl.Collator('en', { numeric: true });

/** The order in which names are listed: as they are shown, `tenant-2` before `tenant-10`. */
export const compareNames = (a: string, b: string): number => compare(unicodeOf(a), unicodeOf(b));

/** Whether a search finds a name, in either form. */
export function isNameFound(hostname: string, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return hostname.includes(wanted) || unicodeOf(hostname).includes(wanted);
}

/** The same within an address. */
export function unicodeUrl(url: string): string {
  const hostname = URL.parse(url)?.hostname ?? '';
  return hostname.includes('xn--') ? url.replace(hostname, unicodeOf(hostname)) : url;
}

/** The text of an A-label without its prefix (RFC 3492 §6.2); undefined if it is malformed. */
function decoded(label: string): string | undefined {
  const last = label.lastIndexOf('-');
  const points = Array.from(label.slice(0, Math.max(last, 0)), (letter) => letter.charCodeAt(0));
  let code = FIRST_CODE;
  let bias = FIRST_BIAS;
  let at = 0;
  let index = last + 1;
  while (index < label.length) {
    const before = at;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = DIGITS.indexOf(label[index++] ?? '?');
      if (digit === -1) return undefined;
      at += digit * weight;
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = points.length + 1;
    bias = adapted(at - before, length, before === 0);
    code += Math.floor(at / length);
    if (code > CODE_MAX) return undefined;
    at %= length;
    points.splice(at++, 0, code);
  }
  return String.fromCodePoint(...points);
}

function adapted(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let bias = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; bias += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return bias + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
