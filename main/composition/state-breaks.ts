import { LOOPBACK_ADDRESSES, platformHostname } from '../base/config.ts';
import { selects } from '../breaks/rule-index.ts';
import { DOMAIN_EDITS } from '../breaks/catalogue/domain.ts';
import { PROXY_ADDRESS } from '../breaks/domain-edits.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import { environment } from '../contract/values.ts';
import type { StateBreak } from '../breaks/state-break.ts';
import { createFront, type Front } from '../proxy/front/front.ts';
import { aliasBreak, claimBreak } from '../services/breaks/domain-breaks.ts';
import { diskBreak, portBreak, resolverBreak, upstreamBreak } from '../services/breaks/machine-breaks.ts';
import { recordBreak } from '../services/breaks/record-breaks.ts';
import { signingBreak } from '../services/breaks/signing-breaks.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

/** Adds the edits of zones and their records to those that breaks make. */
export function addZoneBreaks(
  states: Map<string, StateBreak>,
  { clock, store, events, onStop }: Pick<Foundation, 'clock' | 'store' | 'events' | 'onStop'>,
  {
    dns,
    domains,
    ports,
  }: {
    dns: Pick<Dns, 'zoneOf' | 'signingChanged' | 'zoneChanged' | 'namesChanged'>;
    domains: Pick<Domains, 'lifecycle'>;
    /** The ports for HTTP and HTTPS. */
    ports: () => readonly number[];
  },
): void {
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

/** Adds the edits that simulate faults of this machine. */
export function addMachineBreaks(
  states: Map<string, StateBreak>,
  { store, settings, events, onStop }: Pick<Foundation, 'store' | 'settings' | 'events' | 'onStop'>,
  { domains, publish }: { domains: Pick<Domains, 'lifecycle'>; publish: () => void },
): void {
  const projectOf = (hostname: string): string | null => {
    const domain = domains.lifecycle.find(hostname);
    if (domain !== null) return domain.projectId;
    const isOf = (slug: string) => environment.options.some((each) => platformHostname(slug, each) === hostname);
    return store.projects.list().find(({ slug }) => isOf(slug))?.id ?? null;
  };
  states.set('machine.resolver-gone', resolverBreak({ settings, changed: () => events.emit('settings.changed') }));
  states.set(
    'machine.upstream-dead',
    upstreamBreak({
      ...{ projects: store.projects, projectOf },
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

/** Families that can make a check of a domain fail. */
const OF_DOMAINS: readonly string[] = ['dns', 'domain', 'ca', 'machine'];

/** Checks a domain that was just broken, so its page shows the fault. Other domains keep their schedule. */
export async function verifyBroken(
  { log }: Pick<Foundation, 'log'>,
  { lifecycle }: Pick<Domains, 'lifecycle'>,
  { entry, on: { hostname } }: RunningBreak,
): Promise<void> {
  if (!entry.startsWith('domain.') || hostname === undefined || lifecycle.find(hostname) === null) return;
  try {
    await lifecycle.verify(hostname);
  } catch (error) {
    log.error('Could not check a broken domain; verify it', { error, hostname });
  }
}

/** Re-checks domains that were found wrong while they were broken. */
export async function verifyRepaired(
  { log }: Pick<Foundation, 'log'>,
  { lifecycle }: Pick<Domains, 'lifecycle'>,
  repaired: readonly RunningBreak[],
): Promise<void> {
  const breaks = repaired.filter(({ entry }) => OF_DOMAINS.includes(entry.split('.', 1)[0] ?? ''));
  if (breaks.length === 0) return;
  const wrong = lifecycle.list().filter(({ hostname, lastCheckedAtMs, checks, certificateChecks, certificate }) => {
    const isWrong =
      certificate.refusal !== null || [...checks, ...certificateChecks].some(({ outcome }) => outcome !== 'ok');
    return (
      isWrong &&
      breaks.some(
        ({ on, startedAt }) => selects(on.hostname, hostname) && (lastCheckedAtMs ?? 0) >= Date.parse(startedAt),
      )
    );
  });
  await Promise.all(
    wrong.map(({ hostname }) =>
      lifecycle.verify(hostname).catch((error: unknown) => {
        log.error('Could not re-check a repaired domain; verify it', { error, hostname });
      }),
    ),
  );
}
