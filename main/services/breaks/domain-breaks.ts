import { z } from 'zod';
import type { StateBreak } from '../../breaks/state-break.ts';
import { VivariumError } from '../../contract/errors.ts';
import { isWildcard } from '../../contract/wildcards.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { type DomainName, parentOf } from '../../model/dns-name.ts';
import type { ZoneRows, ProjectRows } from '../dependencies.ts';
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
        throw new VivariumError('conflict', `${hostname} can’t be broken this way: ${why}.`);
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
        throw new VivariumError('conflict', `${hostname} can’t be broken this way: ${above} needs ${needs}.`);
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
