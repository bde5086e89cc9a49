import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprintStart } from '../certificate.ts';
import { type Command, command } from './run-command.ts';
import { certificatesIn, identify, readSmall } from './truststore.ts';
import type { FoundRoot, Served, StoreReading, TrustStore, OwnRoots } from './truststore.ts';

/** How a family of distributions stores its system-wide trust. */
export interface SystemLayout {
  /** The folder for authorities added by the administrator. */
  anchors: string;
  /** Only files with this ending count there. */
  extension: '.crt' | '.pem';
  /** The bundle that programs read; `update` generates it from the anchors. */
  bundle: string;
  update: readonly [command: string, ...args: string[]];
  /** Further arguments of `update` that remove the links to a deleted anchor, if it does not do so by default. */
  fresh?: readonly string[];
}

/** The first one whose anchors folder exists is the system's. */
export const SYSTEM_LAYOUTS: readonly SystemLayout[] = [
  // Fedora, RHEL and relatives.
  {
    anchors: '/etc/pki/ca-trust/source/anchors',
    extension: '.pem',
    bundle: '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
    update: ['update-ca-trust', 'extract'],
  },
  // Debian, Ubuntu, Alpine.
  {
    anchors: '/usr/local/share/ca-certificates',
    extension: '.crt',
    bundle: '/etc/ssl/certs/ca-certificates.crt',
    update: ['update-ca-certificates'],
    fresh: ['--fresh'],
  },
  // Arch and relatives.
  {
    anchors: '/etc/ca-certificates/trust-source/anchors',
    extension: '.crt',
    bundle: '/etc/ca-certificates/extracted/tls-ca-bundle.pem',
    update: ['update-ca-trust'],
  },
  // openSUSE.
  {
    anchors: '/etc/pki/trust/anchors',
    extension: '.pem',
    bundle: '/var/lib/ca-certificates/ca-bundle.pem',
    update: ['update-ca-certificates'],
  },
];

/** A bundle of the usual 150 authorities takes 220 kB. */
const BUNDLE_BYTES_MAX = 16 * 1_048_576;
const ANCHOR_BYTES_MAX = 1_048_576;
const ANCHORS_MAX = 1_000;

export interface LinuxStoreOptions {
  layouts?: readonly SystemLayout[];
  /** Whether this process may change the system itself, for example as root in a container. */
  privileged: boolean;
}

/** The store of curl, OpenSSL, Git and most other programs on Linux; browsers have their own. */
export function createLinuxStore({ layouts = SYSTEM_LAYOUTS, privileged }: LinuxStoreOptions): TrustStore {
  const layout = layouts.find(({ anchors }) => existsSync(anchors));
  const base = { id: 'system', title: 'This system: curl, Git and most programs except browsers' };
  if (layout === undefined) {
    const folders = layouts.map(({ anchors }) => anchors).join(', ');
    const reading: StoreReading = {
      available: false,
      message: `None of the folders for added authorities on Linux exists (${folders}).`,
      needs: 'the package ca-certificates, or this distribution’s own way to add root.pem as an authority',
    };
    return {
      ...base,
      read: () => Promise.resolve(reading),
      trust: () => [],
      untrust: () => [],
      handleOf: () => '',
      handshake: () => null,
    };
  }
  return {
    ...base,
    read: (own) => Promise.resolve(readLayout(layout, own)),
    trust: (own, superseded) => linuxTrustCommands(layout, own, superseded, privileged),
    untrust: (targets) => linuxUntrustCommands(layout, targets, privileged),
    handleOf: (own) => anchorOf(layout, own),
    handshake: (served) => opensslHandshake(layout, served),
    afterwards: 'Restart running programs to make them read it.',
  };
}

export function linuxTrustCommands(
  layout: SystemLayout,
  own: Pick<OwnRoots, 'file'> & { current: { fingerprint: string } },
  superseded: readonly Pick<FoundRoot, 'handle'>[],
  privileged: boolean,
): Command[] {
  return [
    ...removals(superseded, privileged),
    asRoot(
      ['install', '-m', '0644', own.file, anchorOf(layout, own)],
      'copies the root to the system’s anchors',
      privileged,
    ),
    update(layout, superseded.length > 0, privileged),
  ];
}

const anchorOf = ({ anchors, extension }: SystemLayout, { current }: { current: { fingerprint: string } }): string =>
  join(anchors, `vivarium-${fingerprintStart(current.fingerprint)}${extension}`);

/** openssl-s_client(1); it ends when its standard input does. */
const opensslHandshake = ({ bundle }: SystemLayout, { hostname, port }: Served): Command => {
  const server = ['-connect', `${hostname}:${port}`, '-servername', hostname, '-verify_hostname', hostname];
  const trust = ['-CAfile', bundle, '-no-CApath', '-no-CAstore', '-verify_return_error', '-brief'];
  return command('openssl', ['s_client', ...server, ...trust], 'performs a handshake');
};

export const linuxUntrustCommands = (
  layout: SystemLayout,
  targets: readonly Pick<FoundRoot, 'handle'>[],
  privileged: boolean,
): Command[] => [...removals(targets, privileged), update(layout, true, privileged)];

const update = (layout: SystemLayout, hasRemoved: boolean, privileged: boolean): Command =>
  asRoot(
    [...layout.update, ...(hasRemoved ? (layout.fresh ?? []) : [])],
    'updates the system’s trust store',
    privileged,
  );

const removals = (targets: readonly Pick<FoundRoot, 'handle'>[], privileged: boolean): Command[] =>
  targets.map(({ handle }) => asRoot(['rm', '-f', handle ?? ''], 'deletes the system’s copy of the root', privileged));

function asRoot(words: readonly string[], explains: string, privileged: boolean): Command {
  const [command = '', ...args] = privileged ? words : ['sudo', ...words];
  return { command, args, needsPassword: !privileged, explains };
}

function readLayout(layout: SystemLayout, own: OwnRoots): StoreReading {
  const anchors = readAnchors(layout, own);
  const effective = identified(readSmall(layout.bundle, BUNDLE_BYTES_MAX), own);
  const trusted = effective.map((root) => ({
    ...root,
    trusted: true,
    handle: anchors.find((anchor) => anchor.fingerprint === root.fingerprint)?.handle ?? null,
  }));
  const waiting = anchors.filter((anchor) => trusted.every((root) => root.fingerprint !== anchor.fingerprint));
  return { available: true, roots: [...trusted, ...waiting] };
}

/** Vivarium roots among the added authorities, under any file name. */
function readAnchors({ anchors, extension }: SystemLayout, own: OwnRoots): FoundRoot[] {
  const names = readdirSync(anchors).filter((name) => name.endsWith(extension));
  return names.slice(0, ANCHORS_MAX).flatMap((name) => {
    const handle = join(anchors, name);
    const text = readSmall(handle, ANCHOR_BYTES_MAX);
    // The file also contains foreign certificates and must be kept.
    const isAlone = certificatesIn(text).length === 1;
    return identified(text, own).map((root) => ({ ...root, trusted: false, handle: isAlone ? handle : null }));
  });
}

const identified = (text: string, own: OwnRoots) =>
  certificatesIn(text).flatMap((der) => {
    const root = identify(der, own);
    return root === null ? [] : [root];
  });
