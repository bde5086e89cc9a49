import { PLATFORM_ZONE } from '../base/config.ts';
import { type Breaks, createBreaks } from '../breaks/breaks.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import { CATALOGUE } from '../breaks/catalogue/index.ts';
import type { StateBreak } from '../breaks/state-break.ts';
import { VivariumError } from '../contract/errors.ts';
import { DOH_PATH } from '../dns/server/doh.ts';
import type { FaultSource } from '../model/fault.ts';
import type { Snapshot } from '../model/route.ts';
import { LOOK_PREFIX } from '../proxy/front/looks.ts';
import type { Dns } from './dns.ts';
import type { Foundation } from './foundation.ts';

/** The running breaks, and the source of faults for all parts. */
export function openBreaks(
  { clock, log, store, events, onStop }: Foundation,
  dns: () => Pick<Dns, 'zoneOf'>,
  hooks: {
    onStarted: (started: RunningBreak) => Promise<void>;
    onRepaired: (repaired: readonly RunningBreak[]) => Promise<void>;
  },
) {
  let hostnames: ReadonlySet<string> | null = null;
  let published: Pick<Snapshot, 'routes' | 'redirects'> = { routes: [], redirects: new Map() };
  const states = new Map<string, StateBreak>();
  const breaks: Breaks = createBreaks({
    clock,
    log,
    storage: store.breaks,
    breakable: {
      catalogue: CATALOGUE,
      hostnames: () =>
        (hostnames ??= new Set([...published.routes.map(({ hostname }) => hostname), ...published.redirects.keys()])),
      isInZone: (name) => dns().zoneOf(name) !== null,
      ownHosts: new Set(['localhost', '127.0.0.1', '[::1]', PLATFORM_ZONE]),
      ownPaths: [DOH_PATH, LOOK_PREFIX],
      hasKey: (keyId) => store.keys.get(keyId) !== null,
    },
    states,
    onChanged: () => events.emit('breaks.changed'),
    ...hooks,
  });
  onStop(() => breaks.close());
  return {
    ...breaks,
    /** The edits of entries of the kind `state`, by entry id: add them before `resume`. */
    states,
    publish(snapshot: Pick<Snapshot, 'routes' | 'redirects'>): void {
      published = snapshot;
      hostnames = null;
    },
  };
}

/** Why the CA refuses a custom domain, by entry; entries about CAA change DNS answers instead. */
const REFUSALS: Readonly<Record<string, string>> = {
  'ca.part-unavailable': 'The CA is down: it answers with 503.',
  'ca.rate-limited': 'The CA has issued too many certificates for this domain, and refuses more for a while.',
};

/** The CA of custom domains, which refuses while certain breaks run. */
export function breakableIssuer<Issuer extends { issue: (hostname: string) => unknown }>(
  issuer: Issuer,
  faults: Pick<FaultSource, 'named'>,
): Issuer {
  return {
    ...issuer,
    issue(hostname) {
      for (const [entry, why] of Object.entries(REFUSALS)) {
        const fault = faults.named?.(entry, [hostname]) ?? null;
        const { limit } = fault?.parameters ?? {};
        if (fault === null || (limit !== undefined && !String(limit).startsWith('certificates'))) continue;
        throw new VivariumError('conflict', `${why} Broken on purpose: ${entry}.`);
      }
      return issuer.issue(hostname);
    },
  };
}
