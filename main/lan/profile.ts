import { createHash } from 'node:crypto';
import { isWithin } from '../base/text/hostname.ts';
import { isWildcard } from '../contract/hostnames.ts';

/** The contents of a profile for Apple devices: the root to trust, and the DNS server for its names. */
export interface ProfileOptions {
  /** The root, in DER. */
  certificate: Buffer;
  /** SHA-256 fingerprint of the root. It identifies the profile, so a newer profile of the same root replaces it. */
  fingerprint: string;
  /** The URL for DNS over HTTPS, with a host that the root may sign for. */
  dohUrl: string;
  address: string;
  /** The names to resolve there, with their subdomains; others are resolved as before. */
  domains: readonly string[];
}

export const PROFILE_CONTENT_TYPE = 'application/x-apple-aspen-config';

/**
 * A configuration profile (`.mobileconfig`) for iOS, iPadOS and macOS: payloads `com.apple.security.root` and
 * `com.apple.dnsSettings.managed` of Apple's "Device Management" reference.
 */
export function renderProfile(options: ProfileOptions): string {
  const { certificate, fingerprint, dohUrl, address, domains } = options;
  const identifier = `localhost.vivarium.devices.${fingerprint.replaceAll(':', '').slice(0, 12).toLowerCase()}`;
  const payload = (type: string, suffix: string, title: string): Entries => ({
    PayloadType: type,
    PayloadVersion: 1,
    PayloadIdentifier: `${identifier}${suffix}`,
    PayloadUUID: uuidOf(`${identifier}${suffix}`),
    PayloadDisplayName: title,
  });
  return plist({
    ...payload('Configuration', '', 'Vivarium'),
    PayloadDescription: 'Trusts the root of one Vivarium and resolves the hostnames that it serves.',
    PayloadRemovalDisallowed: false,
    PayloadContent: [
      {
        ...payload('com.apple.security.root', '.root', 'Vivarium root'),
        PayloadCertificateFileName: 'vivarium-root.cer',
        PayloadContent: certificate,
      },
      {
        ...payload('com.apple.dnsSettings.managed', '.dns', 'Vivarium hostnames'),
        DNSSettings: {
          DNSProtocol: 'HTTPS',
          ServerURL: dohUrl,
          ServerAddresses: [address],
          SupplementalMatchDomains: domains,
        },
      },
    ],
  });
}

/** A deterministic UUID for a text, version 8 (RFC 9562 §5.8). */
function uuidOf(text: string): string {
  const octets = createHash('sha256').update(text).digest().subarray(0, 16);
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x80, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = octets.toString('hex').toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

type Value = string | number | boolean | Buffer | readonly Value[] | Entries;
interface Entries {
  readonly [key: string]: Value;
}

const plist = (entries: Entries): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${valueText(entries)}
</plist>
`;

function valueText(value: Value): string {
  if (typeof value === 'string') return `<string>${escapeXml(value)}</string>`;
  if (typeof value === 'number') return `<integer>${value}</integer>`;
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>';
  if (Buffer.isBuffer(value)) return `<data>${value.toString('base64')}</data>`;
  if (isList(value)) return `<array>\n${value.map(valueText).join('\n')}\n</array>`;
  const entries = Object.entries(value as Entries);
  return `<dict>\n${entries.map(([key, each]) => `<key>${key}</key>\n${valueText(each)}`).join('\n')}\n</dict>`;
}

const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escapeXml = (text: string): string => text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? '');

/** Domains that a profile lists individually, because no reserved suffix covers them. */
const PROFILE_DOMAINS_MAX = 200;

/** The reserved suffixes, which exist nowhere else, and the served hostnames outside them. */
export function profileDomains(suffixes: readonly string[], hostnames: readonly string[]): string[] {
  const outside = hostnames
    .map((hostname) => (isWildcard(hostname) ? hostname.slice(2) : hostname))
    .filter((hostname) => !suffixes.some((suffix) => isWithin(hostname, suffix)));
  return [...suffixes, ...new Set(outside)].slice(0, PROFILE_DOMAINS_MAX);
}
