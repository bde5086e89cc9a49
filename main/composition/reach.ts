import { homedir, tmpdir } from 'node:os';
import { DOH_PATH, PLATFORM_ZONE } from '../base/config.ts';
import { isWithin } from '../base/text/hostname.ts';
import { environmentOutside } from '../base/system/program.ts';
import { askSystem } from '../base/system/system-names.ts';
import { isExecutable } from '../ca/stores/machine-stores.ts';
import { lastFirefoxProfile } from '../ca/stores/nss-databases.ts';
import { createRunCommand } from '../ca/stores/run-command.ts';
import type { Wish } from '../machine/change.ts';
import { createBrowserProcesses, tryBrowsers } from '../reach/browser-processes.ts';
import {
  createMappedHostnames,
  reachedAddress,
  type ReachedAddress,
  PAC_CONTENT_TYPE,
  renderPac,
  pacSetting,
} from '../reach/mapped-hostnames.ts';
import { createBrowserOpener } from '../reach/open-browser.ts';
import { directUrl, makeSnippets } from '../reach/snippets.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';
import { startCommand } from '../base/system/own-command.ts';
import { openMachine } from './machine.ts';

export type Reach = ReturnType<typeof openReach>;

/** Address of the PAC file on the control port. */
export const PAC_PATH = '/proxy.pac';

/** Ways for clients to reach hostnames that this machine's DNS does not know. */
export function openReach(
  { clock, log, onStop, openPreview }: Foundation,
  parts: { certificates: Certificates; dns: Dns; domains: Domains; dataPlane: DataPlane; controlUrl: () => string },
) {
  const { certificates, dns, domains, dataPlane, controlUrl } = parts;
  const { ports } = dataPlane;
  const mapped = createMappedHostnames();
  const proxyUrl = `http://127.0.0.1:${ports.http}`;
  const pacUrl = () => controlUrl() + PAC_PATH;
  const dohUrl = `https://localhost:${ports.https}${DOH_PATH}`;

  /** The certificate shown at `hostname`, in PEM; null if there is none. */
  function certificateOf(hostname: string): string | null {
    if (isWithin(hostname, PLATFORM_ZONE)) return certificates.platformLeaves.leafFor(hostname).certificatePem;
    // Read the held leaf first: the wire may already show its successor.
    return domains.leaves.contextFor(hostname) === null
      ? null
      : (domains.leaves.held(hostname)?.certificatePem ?? null);
  }

  const processes = createBrowserProcesses({ clock, log, temporaryDir: tmpdir() });
  onStop(() => processes.stop());
  const { platform } = process;
  const environment = environmentOutside(process.env);
  const search = { platform, environment, home: homedir(), isExecutable };
  const opener = createBrowserOpener({
    log,
    processes,
    search,
    network: () => ({ pacUrl: pacUrl(), ports, platformZone: PLATFORM_ZONE }),
    makeTrustStore: certificates.makeTrustStore,
    *certificatesBeside({ hostname, projectId }) {
      for (const one of new Set([hostname, ...mapped.ofProject(projectId)])) {
        const certificate = certificateOf(one);
        if (certificate !== null) yield certificate;
      }
    },
  });

  const proxy = () => ({ url: proxyUrl, pacUrl: pacUrl(), dohUrl, hostnames: mapped.size });

  return {
    publish: mapped.publish,
    pacFile: {
      contentType: PAC_CONTENT_TYPE,
      read: () => Buffer.from(renderPac(mapped.all(), `127.0.0.1:${ports.http}`)),
    },
    proxy,
    address: (hostname: string, asked: Parameters<typeof reachedAddress>[1] = {}) =>
      reachedAddress(hostname, asked, {
        mapped,
        isSecure: (name) => certificateOf(name) !== null,
        isAttached: domains.lifecycle.isAttached,
      }),
    opener,
    askSystem: (hostname: string) => askSystem(hostname, clock),
    opened: processes.opened,
    /** Opens a page in every installed browser with the user's own profile; a sentence if there is none. */
    tryBrowsers: (page: Parameters<typeof tryBrowsers>[0]) =>
      tryBrowsers(page, { search, firefoxProfile: lastFirefoxProfile(search), temporaryDir: tmpdir(), clock }),
    /** Null without a desktop. */
    preview:
      openPreview === undefined
        ? null
        : ({ hostname, url }: ReachedAddress) =>
            openPreview({
              hostname,
              url,
              proxyUrl,
              isMapped: (name) => mapped.find(name) !== null,
              issuerPems: certificates.issuer.pems,
            }),
    snippets: (address: ReachedAddress) => ({
      direct: directUrl(address, ports),
      snippets: makeSnippets({
        address,
        ports: { ...ports, dns: dns.listening.port },
        caFile: certificates.certificateFile,
        proxyUrl,
        pacUrl: pacUrl(),
        dohUrl,
      }),
      pac: pacSetting({ hostname: address.hostname, ports, pacUrl: pacUrl(), platform }),
    }),
  };
}

export type EngineMachine = ReturnType<typeof openEngineMachine>;

/** The changes of this machine that make hostnames lead to this engine. */
export function openEngineMachine(
  { config, clock, machineRoot }: Foundation,
  parts: { certificates: Certificates; dns: Dns; dataPlane: DataPlane; reach: Pick<Reach, 'proxy'> },
) {
  const { certificates, dns, dataPlane, reach } = parts;
  const machine = openMachine({
    ledger: certificates.ledger,
    root: machineRoot,
    dataDir: config.dataDir,
    clock,
    run: createRunCommand({ clock, environment: environmentOutside(process.env) }),
    stores: certificates.trustStores,
  });
  return {
    ...machine,
    wishFor: (hostname: string): Wish => ({
      hostname,
      zone: dns.zoneOf(hostname)?.zone ?? hostname,
      ports: { ...dataPlane.ports, dns: dns.listening.port },
      pacUrl: reach.proxy().pacUrl,
      start: startCommand(config.dataDir),
    }),
  };
}
