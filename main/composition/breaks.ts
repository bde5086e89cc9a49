import { LOOPBACK_ADDRESSES, platformHostname } from '../base/config.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { originOf } from '../base/text/hostname.ts';
import { type Breaks, createBreaks } from '../breaks/breaks.ts';
import { CATALOGUE } from '../breaks/catalogue/index.ts';
import { DOMAIN_EDITS } from '../breaks/catalogue/domain.ts';
import { PROXY_ADDRESS, type StateBreak } from '../breaks/state-break.ts';
import { breaksOf, ownerOf, type Served } from '../breaks/rule-index.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import type { Services } from '../contract/index.ts';
import { DRILLS } from '../drills/catalogue/index.ts';
import { createDrills, type Drills } from '../drills/drills.ts';
import { PROVIDERS } from '../contract/provider-table.ts';
import type { Route, Snapshot } from '../model/route.ts';
import { createFront, type Front } from '../proxy/front/front.ts';
import { aliasBreak, claimBreak, signingBreak } from '../services/breaks/domain-breaks.ts';
import { createPractice } from '../services/breaks/drill-practice.ts';
import { diskBreak, portBreak, resolverBreak, upstreamBreak } from '../services/breaks/breaks.ts';
import { recordBreak } from '../services/breaks/record-breaks.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

/** Of a provider’s API, the hosts that programs have hard-coded as well. */
const hostsOf = ({ hostname, target }: Route): string[] =>
  target.kind === 'provider' ? [hostname, ...PROVIDERS[target.provider].hosts] : [hostname];

/** The running breaks, and the source of faults for all parts. */
export function openBreaks(
  { clock, log, store, events, onStop }: Foundation,
  dns: () => Pick<Dns, 'zoneOf'>,
  hooks: {
    onStarted: (started: RunningBreak) => Promise<void>;
    onRepaired: (repaired: readonly RunningBreak[]) => Promise<void>;
  },
) {
  let known: Served | null = null;
  // Hostnames that are redirected have routes, too.
  const served = () => (known ??= new Map(routes.flatMap((route) => hostsOf(route).map((host) => [host, route]))));
  let routes: Snapshot['routes'] = [];
  const states = new Map<string, StateBreak>();
  const breaks = createBreaks({
    clock,
    log,
    storage: store.breaks,
    breakable: {
      catalogue: CATALOGUE,
      served,
      isInZone: (name) => dns().zoneOf(name) !== null,
      hasKey: (keyId) => store.keys.get(keyId) !== null,
    },
    states,
    onChanged: () => events.emit('breaks.changed'),
    ...hooks,
  });
  onStop(() => breaks.close());
  return {
    ...breaks,
    /** Those that select a hostname. */
    at: (hostname: string) => breaksOf({ hostname, projectId: ownerOf(hostname, served()) }, breaks.list()),
    /** Those of an entry, of all projects or of one. */
    by: (entry: string, projectId?: string) =>
      breaks.list().filter((each) => each.entry === entry && (projectId === undefined || each.projectId === projectId)),
    /** The edits of entries of the kind `state`, by entry id: add them before `resume`. */
    states,
    publish(snapshot: Pick<Snapshot, 'routes'>): void {
      ({ routes } = snapshot);
      known = null;
    },
  };
}

export function addZoneBreaks(
  states: Map<string, StateBreak>,
  { clock, store, events, onStop }: Pick<Foundation, 'clock' | 'store' | 'events' | 'onStop'>,
  options: {
    dns: Pick<Dns, 'zoneOf' | 'signingChanged' | 'zoneChanged' | 'namesChanged'>;
    domains: Pick<Domains, 'lifecycle'>;
    /** The ports for HTTP and HTTPS. */
    ports: () => readonly number[];
  },
): void {
  const { dns, domains, ports } = options;
  const { lifecycle } = domains;
  const { zoneOf } = dns;
  const { zones } = store;
  const signing = {
    zones,
    zoneOf,
    changed(zone: string): void {
      dns.signingChanged(zone);
      events.emit('zones.changed');
    },
  };
  states.set('dns.dnssec-expired', signingBreak('expired', signing));
  states.set('dns.dnssec-missing', signingBreak('missing', signing));
  states.set('domain.dnssec-bogus', signingBreak('wrong-key', signing));

  function domain(text: string) {
    const { hostname, kind, verifiedAtMs } = lifecycle.get(text);
    return { hostname, kind, verifiedBefore: verifiedAtMs !== null };
  }
  states.set(
    'domain.alias-unsupported',
    aliasBreak({
      ...{ zones, zoneOf, domain },
      changed(zone) {
        dns.zoneChanged(zone);
        events.emit('zones.changed');
      },
    }),
  );
  const front = createFront({ address: PROXY_ADDRESS, target: '127.0.0.1', ports });
  onStop(() => front.closeAll());
  states.set('domain.claimed-elsewhere', claimBreak({ projects: store.projects, lifecycle }));
  for (const entry of DOMAIN_EDITS.keys()) {
    const edit = recordBreak(entry, {
      ...{ clock, zones, records: store.records, domain, zoneOf },
      running: store.breaks.list,
      publish: dns.namesChanged,
    });
    states.set(entry, entry === 'domain.proxied' ? proxied(edit, front) : edit);
  }
}

/** An address where nothing listens, not even while `domain.proxied` runs. */
const NOWHERE = '127.0.0.9';

export function addMachineBreaks(
  states: Map<string, StateBreak>,
  { store, settings, events, onStop }: Pick<Foundation, 'store' | 'settings' | 'events' | 'onStop'>,
  { domains, publish }: { domains: Pick<Domains, 'lifecycle'>; publish: () => void },
): void {
  states.set('machine.resolver-gone', resolverBreak({ settings, changed: () => events.emit('settings.changed') }));
  states.set(
    'machine.upstream-dead',
    upstreamBreak({
      projects: store.projects,
      domains: domains.lifecycle,
      changed() {
        publish();
        events.emit('projects.changed');
      },
    }),
  );
  states.set('machine.disk-full', diskBreak(store.quota));
  states.set(
    'machine.port-taken',
    portBreak({
      port: () => settings.current().acmeHttpPort,
      holdAt(port) {
        const fronts = LOOPBACK_ADDRESSES.map((address) =>
          createFront({ address, target: NOWHERE, ports: () => [port] }),
        );
        const release = async (): Promise<void> => void (await Promise.all(fronts.map((front) => front.closeAll())));
        onStop(release);
        return { open: async () => void (await Promise.all(fronts.map((front) => front.open('port')))), release };
      },
    }),
  );
}

/** The edit of records, and the proxy to which they point. */
const proxied = (edit: StateBreak, front: Front): StateBreak => ({
  ...edit,
  async apply(undo, target) {
    await front.open(undo.edits);
    await edit.apply(undo, target);
  },
  async undo(undo, target, leave) {
    await edit.undo(undo, target, leave);
    await front.close(undo.edits);
  },
});

/** The name under which the settings store the running drill and the results. */
const SETTING = 'drills';

export function openDrills(
  { config, clock, log, store, events, onStop }: Foundation,
  options: {
    breaks: Breaks;
    services: () => Services;
    certificates: Certificates;
    dns: Pick<Dns, 'listening'>;
    dataPlane: Pick<DataPlane, 'ports'>;
  },
): Drills {
  const { breaks, services, certificates, dns, dataPlane } = options;
  const { ports } = dataPlane;
  const drills = createDrills({
    clock,
    log,
    storage: { read: () => store.settings.get()[SETTING], write: (value) => store.settings.set(SETTING, value) },
    drills: DRILLS,
    practice: createPractice({
      services,
      breaks,
      addresses: (slug) => ({
        url: `${originOf('http', platformHostname(slug, 'production'), ports.http)}/v1`,
        secureUrl: `${originOf('https', platformHostname(slug, 'production'), ports.https)}/v1`,
        ca: certificates.certificateFile,
        https: String(ports.https),
        dns: String(dns.listening.port),
      }),
      ownCommand: ownCommand(config.dataDir),
    }),
    onChanged: () => events.emit('breaks.changed'),
  });
  onStop(() => drills.close());
  return drills;
}
