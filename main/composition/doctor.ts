import { breaksMet } from '../contract/break-words.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import { pointOfId } from '../breaks/catalogue/index.ts';
import type { StatusReport } from '../contract/status.ts';
import { exampleOf } from '../contract/hostnames.ts';
import type { DnsResult } from '../dns/client/client.ts';
import { serverText } from '../dns/client/lookup.ts';
import { typeCode } from '../dns/wire/record.ts';
import { formatValue } from '../dns/wire/record-text.ts';
import type { Reply } from '../doctor/dns.ts';
import { createEngineDoctor, type CheckedEngine } from '../doctor/engine-doctor.ts';
import type { Doctor } from '../doctor/checkup.ts';
import type { FolderReaders } from '../doctor/folder-doctor.ts';
import { presentDomain } from '../domains/present.ts';
import { parseName } from '../model/dns-name.ts';
import { routeTarget } from '../model/route.ts';
import { dialUpstream } from '../proxy/upstream/dial.ts';
import { repairCommands, type RepairServices } from '../services/domains/domains.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';
import type { Looks } from '../proxy/front/loopback.ts';
import type { Reach } from './reach.ts';
import { ownCommand } from '../base/system/own-command.ts';

const withPoint = (running: RunningBreak) => ({ ...running, at: pointOfId(running.entry) });

export interface EngineDoctorParts {
  certificates: Certificates;
  dns: Dns;
  domains: Domains;
  dataPlane: DataPlane;
  looks: Pick<Looks, 'expect'>;
  reach: Pick<Reach, 'tryBrowsers'>;
  /** Set once the control port is bound. */
  control: CheckedEngine['control'];
  status: () => StatusReport;
  services: () => RepairServices;
  breaks: {
    faults: CheckedEngine['faults'];
    at: (hostname: string) => readonly RunningBreak[];
    by: (entry: string, projectId?: string) => readonly RunningBreak[];
  };
}

export function openEngineDoctor(
  { config, stateDir, clock, store, settings, describeDesktop }: Foundation,
  readers: FolderReaders,
  { dns, domains, services, looks, reach, breaks, ...parts }: EngineDoctorParts,
): Doctor {
  const { dataDir, ephemeral } = config;
  const { lifecycle } = domains;
  return createEngineDoctor({
    ...parts,
    dataDir,
    stateDir,
    ephemeral,
    clock,
    dns: {
      listening: dns.listening,
      async ask(name, transport, address) {
        const { port } = dns.listening;
        return replyOf(await dns.client.askOver(transport, { address, port }, addressQuestion(name)));
      },
      async askResolver(name) {
        const { local, ...server } = dns.resolver();
        if (local) return null;
        return { place: serverText(server), reply: replyOf(await dns.client.ask(server, addressQuestion(name))) };
      },
    },
    hostnames: () => lifecycle.list().map(({ hostname }) => hostname),
    exampleOf: (hostname) => exampleOf(hostname, lifecycle.isAttached),
    async findDomain(hostname) {
      const domain = lifecycle.find(hostname);
      if (domain === null) return null;
      const rules = lifecycle.rules(domain);
      const { isAttached } = lifecycle;
      const shown = presentDomain(domain, { rules, zone: null, primary: false, breaks: [], isAttached });
      const repairs = await repairCommands(shown, services(), { signal: undefined });
      const wildcard = `*.${hostname.slice(hostname.indexOf('.') + 1)}`;
      const isCovered = wildcard !== hostname && lifecycle.leaf(wildcard) !== null;
      return { domain: shown, leaf: lifecycle.leaf(hostname), repairs, wildcard: isCovered ? wildcard : undefined };
    },
    faults: breaks.faults,
    breaksAt: (hostname) => breaksMet(breaks.at(hostname)).map(withPoint),
    breaksBy: (...of) => breaks.by(...of).map(withPoint),
    isLimited: store.quota.isLimited,
    acmePort: () => settings.current().acmeHttpPort,
    projects: () => store.projects.list(),
    upstreams: () =>
      store.projects.list().flatMap((project) => {
        const target = routeTarget(project.target);
        if (target.kind !== 'upstream') return [];
        return [{ project, url: target.url, dial: (realMsMax: number) => dialUpstream(target, realMsMax) }];
      }),
    tryBrowsers: (hostname) =>
      reach.tryBrowsers(() => {
        const { path, ...page } = looks.expect();
        return { url: `https://${hostname}${path}`, ...page };
      }),
    readers,
    ownCommand: ownCommand(dataDir),
    ...(describeDesktop !== undefined && { describeDesktop }),
  });
}

function addressQuestion(text: string) {
  const name = parseName(text);
  const type = typeCode('A');
  if (!name.ok || type === null) throw new Error(`${text} is not a name to ask for.`);
  return { name: name.name, type };
}

const replyOf = (result: DnsResult): Reply =>
  result.kind === 'failed'
    ? { reason: result.detail ?? result.reason }
    : {
        rcode: result.rcode,
        values: result.answers.flatMap(({ data }) => ('octets' in data ? [] : [formatValue(data)])),
      };
