import { z } from 'zod';
import type { Log } from '../../base/log.ts';
import { selects } from '../../breaks/rule-index.ts';
import type { StateBreak } from '../../breaks/state-break.ts';
import type { RunningBreak } from '../../contract/breaks.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import type { ZoneBreak } from '../../contract/zones.ts';
import { createSigningKey } from '../../dns/zones/zone-signer.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { type DomainName, parentOf } from '../../model/dns-name.ts';
import type { FaultSource } from '../../model/fault.ts';
import type { ZoneSigning } from '../../model/dns-lookup.ts';
import type { ProjectRows, ZoneRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';

const keptAlias = z.object({ zone: z.string(), createdAtMs: z.number() });

/** Turns off ALIAS and ANAME in the zone of an apex; the records remain stored but are not answered. */
export function aliasBreak(options: {
  zones: Pick<ZoneRows, 'get' | 'setSupportsAlias'>;
  /** The hostname and kind of an attached domain; @throws VivariumError `not_found`. */
  domain: (hostname: string) => { hostname: string; kind: 'apex' | 'subdomain' };
  zoneOf: (hostname: string) => { zone: string } | null;
  changed: (zone: DomainName) => void;
}): StateBreak {
  function put(detail: unknown, supportsAlias: boolean): void {
    const { zone, createdAtMs } = keptAlias.parse(detail);
    const row = options.zones.get(zone);
    if (row === null || row.createdAtMs !== createdAtMs || row.supportsAlias === supportsAlias) return;
    options.zones.setSupportsAlias(zone, supportsAlias);
    options.changed(zone);
  }

  return {
    prepare({ on }) {
      if (on.hostname === undefined) throw inputError('on.hostname', 'is required: the hostname of an attached apex.');
      const { hostname, kind } = options.domain(on.hostname);
      const row = options.zones.get(options.zoneOf(hostname)?.zone ?? '');
      if (kind !== 'apex' || row === null || !row.supportsAlias) {
        const why =
          kind !== 'apex' ? 'it is a subdomain' : row === null ? 'it is in no local zone' : 'its zone has no ALIAS';
        throw conflict(`${hostname} can’t be broken this way: ${why}.`);
      }
      const detail: z.infer<typeof keptAlias> = { zone: row.name, createdAtMs: row.createdAtMs };
      return { edits: `alias support of ${row.name}`, detail };
    },
    apply: ({ detail }) => put(detail, false),
    undo: ({ detail }) => put(detail, true),
  };
}

const keptClaim = z.object({ above: z.string(), projectId: z.string() });

/** Attaches the parent name of a domain to another project, which then has a claim on the domain. */
export function claimBreak({
  projects,
  lifecycle,
}: {
  projects: Pick<ProjectRows, 'list'>;
  lifecycle: Pick<Lifecycle, 'get' | 'find' | 'evaluate' | 'attach' | 'remove'>;
}): StateBreak {
  return {
    prepare({ on }) {
      if (on.hostname === undefined)
        throw inputError('on.hostname', 'is required: the hostname of an attached domain.');
      const { hostname, projectId: owner } = lifecycle.get(on.hostname);
      const above = parentOf(isWildcard(hostname) ? parentOf(hostname) : hostname);
      const other = projects.list().find(({ id }) => id !== owner && lifecycle.evaluate(id, above).ok);
      if (other === undefined) {
        const needs = 'another project, deployed and on a plan with domains, which may attach it';
        throw conflict(`${hostname} can’t be broken this way: ${above} needs ${needs}.`);
      }
      const detail: z.infer<typeof keptClaim> = { above, projectId: other.id };
      return { edits: `domain ${above}`, detail };
    },
    apply({ detail }) {
      const { above, projectId } = keptClaim.parse(detail);
      if (lifecycle.find(above) === null) lifecycle.attach(projectId, above);
    },
    undo({ detail }) {
      const { above, projectId } = keptClaim.parse(detail);
      // A name that was removed or attached to a third project no longer belongs to the break.
      if (lifecycle.find(above)?.projectId === projectId) lifecycle.remove(above);
    },
  };
}

interface Verifying {
  log: Pick<Log, 'error'>;
  lifecycle: Pick<Lifecycle, 'find' | 'list' | 'verify'>;
}

/** Families that can make a check of a domain fail. */
const OF_DOMAINS: readonly string[] = ['dns', 'domain', 'ca', 'machine'];

/** Checks a domain that was just broken, so its page shows the fault. Other domains keep their schedule. */
export async function verifyBroken(
  { log, lifecycle }: Verifying,
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
export async function verifyRepaired({ log, lifecycle }: Verifying, repaired: readonly RunningBreak[]): Promise<void> {
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

/** Why the CA refuses a custom domain, by entry; entries about CAA change DNS answers instead. */
const REFUSALS: Readonly<Record<string, string>> = {
  'ca.part-unavailable': 'The CA is down: it answers with 503.',
  'ca.rate-limited': 'The CA has issued too many certificates for this domain, and refuses more for a while.',
};

/** The CA of custom domains, which refuses while certain breaks run. */
export function breakableIssuer<Issuer extends { issue: (hostname: string) => unknown }>(
  issuer: Issuer,
  faults: Pick<FaultSource, 'named' | 'giveBack'>,
): Issuer {
  return {
    ...issuer,
    issue(hostname) {
      for (const [entry, why] of Object.entries(REFUSALS)) {
        const fault = faults.named?.(entry, [hostname]) ?? null;
        if (fault === null) continue;
        const { limit = 'certificates' } = fault.parameters;
        if (!String(limit).startsWith('certificates')) {
          faults.giveBack(fault);
          continue;
        }
        throw conflict(`${why} Broken on purpose: ${entry}.`);
      }
      return issuer.issue(hostname);
    },
  };
}

const kept = z.object({
  zone: z.string(),
  before: z.enum(['expired', 'missing', 'wrong-key']).nullable(),
  /** Whether a foreign key existed before, which `wrong-key` needs. */
  hadStranger: z.boolean(),
});

/** Breaks the signatures of a hostname's zone. The zone must be signed; its keys are kept. */
export function signingBreak(
  broken: ZoneBreak,
  options: {
    zones: Pick<ZoneRows, 'get' | 'setSigning'>;
    /** The closest local zone that contains a name. */
    zoneOf: (name: string) => { zone: string } | null;
    changed: (zone: DomainName) => void;
  },
): StateBreak {
  const { zones, zoneOf, changed } = options;
  function put(
    zone: DomainName,
    from: ZoneBreak | null,
    change: (signing: ZoneSigning) => Pick<ZoneSigning, 'broken' | 'stranger'>,
  ): boolean {
    const signing = zones.get(zone)?.signing ?? null;
    // A change made meanwhile is intended and kept.
    if (signing?.on !== true || signing.broken !== from) return false;
    zones.setSigning(zone, { ...signing, ...change(signing) });
    changed(zone);
    return true;
  }

  return {
    prepare({ on: { hostname } }) {
      if (hostname === undefined) throw inputError('on.hostname', 'is required: a hostname in the zone to break.');
      const zone = zoneOf(hostname.replace(/^\*\./, ''))?.zone;
      if (zone === undefined) throw notFound(`${hostname} is in no local zone.`);
      const signing = zones.get(zone)?.signing ?? null;
      if (signing?.on !== true) {
        throw conflict(`"${zone}" is not signed; sign it first: \`zones.dnssec\` with signed true.`);
      }
      const { broken: before, stranger } = signing;
      const detail: z.infer<typeof kept> = { zone, before, hadStranger: stranger !== null };
      return { edits: `signing ${zone}`, detail };
    },
    apply({ detail }) {
      const { zone, before } = kept.parse(detail);
      put(zone, before, ({ stranger }) => ({
        broken,
        stranger: broken === 'wrong-key' ? (stranger ?? createSigningKey()) : stranger,
      }));
    },
    undo({ detail }, _target, leave) {
      const { zone, before, hadStranger } = kept.parse(detail);
      const isUndone = put(zone, broken, ({ stranger }) => ({
        broken: before,
        stranger: hadStranger ? stranger : null,
      }));
      if (!isUndone) leave(`signing ${zone}`);
    },
  };
}
