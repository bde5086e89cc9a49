import { encode } from 'uqr';
import { originOf, isWithin } from '../base/text/hostname.ts';
import { escapeHtml, type Page } from '../base/http/answer.ts';
import { exampleOf, isWildcard } from '../contract/hostnames.ts';
import { createHash } from 'node:crypto';

/** Paths of the downloads, on the page's host. */
export const PROFILE_PATH = '/vivarium.mobileconfig';
export const ROOT_PATH = '/vivarium-root.crt';
export const DEVICE_PAC_PATH = '/proxy.pac';

/** The most hostnames that the page links to. */
const LINKED_MAX = 50;

export interface DevicePage {
  /** The origin of the page: `http://192.168.1.5:8080`. */
  origin: string;
  ports: { http: number; https: number };
  /** The hostnames that are served to other devices, in normal form. */
  hostnames: readonly string[];
  isSecure: (hostname: string) => boolean;
  /** SHA-256 of the root. */
  fingerprint: string;
}

/** The page that a device opens first: what to install, and the hostnames it can then open. It contains no secrets. */
export function renderDevicePage(shown: DevicePage): Page {
  const { origin, fingerprint } = shown;
  const pacUrl = `<code>${escapeHtml(origin + DEVICE_PAC_PATH)}</code>`;
  const content = `
<h2>iPhone, iPad, Mac</h2>
<p>The profile contains the root certificate and makes the device look up these hostnames at this address.</p>
<p><a class="button" href="${PROFILE_PATH}">Download the profile</a></p>
<ol>
<li>Install it: <em>Settings</em>, <em>Profile Downloaded</em>. On a Mac: <em>System Settings</em>, <em>Device Management</em>.</li>
<li>On an iPhone or iPad, turn on trust for the root: <em>General</em>, <em>About</em>, <em>Certificate Trust Settings</em>.</li>
</ol>
<p>To undo it, remove the profile.</p>
<h2>Android, Windows, Linux</h2>
<p><a class="button" href="${ROOT_PATH}">Download the root</a></p>
<ol>
<li>Install it as a CA certificate. On Android: <em>Settings</em>, search for <em>CA certificate</em>.</li>
<li>Set the proxy of this network to <em>automatic</em>, with this address: ${pacUrl}</li>
</ol>
<p>To undo it, remove the certificate and the proxy.</p>
<h2>Compare before you trust</h2>
<p>This is the root’s SHA-256 fingerprint. It must match the one on Vivarium’s page <em>Other devices</em>.</p>
<p><code>${escapeHtml(fingerprint)}</code></p>
${renderLinks(shown)}`;
  return {
    title: 'On this device',
    corner: '',
    heading: 'Open Vivarium’s hostnames on this device',
    message: 'Vivarium serves hostnames from another machine on this network. Set up this device once to open them.',
    content,
  };
}

function renderLinks({ hostnames, ports, isSecure }: DevicePage): string {
  if (hostnames.length === 0) {
    return '<h2>Hostnames</h2>\n<p>None yet. Names under localhost always refer to the device itself, so attach a custom domain in Vivarium.</p>';
  }
  const attached = new Set(hostnames);
  const items = hostnames.slice(0, LINKED_MAX).map((hostname) => {
    const scheme = isSecure(hostname) ? 'https' : 'http';
    const url = `${originOf(
      scheme,
      exampleOf(hostname, (name) => attached.has(name)),
      ports[scheme],
    )}/`;
    return `<li><a href="${escapeHtml(url)}">${escapeHtml(hostname)}</a></li>`;
  });
  const more = hostnames.length > LINKED_MAX ? `<p>And ${hostnames.length - LINKED_MAX} more.</p>` : '';
  return `<h2>Hostnames</h2>\n<ul>\n${items.join('\n')}\n</ul>\n${more}`;
}

/** A QR code as an SVG path. */
export interface QrCode {
  /** The number of modules per side, including the quiet zone that scanners need. */
  size: number;
  /** The dark modules as the `d` of an SVG path, one unit each. */
  path: string;
}

/** ISO/IEC 18004 requires four light modules around the code. */
const QUIET_MODULES = 4;

/** The QR code of a text, with error correction for a scratched screen (level M, 15 %). */
export function qrCode(text: string): QrCode {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_MODULES });
  const runs = data.flatMap((row, y) =>
    row.flatMap((dark, x) => {
      if (!dark || row[x - 1] === true) return [];
      const end = row.indexOf(false, x);
      const width = (end < 0 ? size : end) - x;
      return [`M${x} ${y}h${width}v1h-${width}z`];
    }),
  );
  return { size, path: runs.join('') };
}

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
