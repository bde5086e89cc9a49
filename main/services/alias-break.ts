import { z } from 'zod';
import type { StateBreak } from '../breaks/state-break.ts';
import { VivariumError } from '../contract/errors.ts';
import type { DomainName } from '../model/dns-name.ts';
import type { ZoneRows } from './dependencies.ts';
import { inputError } from './project-rules.ts';

const kept = z.object({ zone: z.string(), createdAtMs: z.number() });

/** Moves the zone of an apex to a provider without ALIAS and ANAME, which stay stored and are not answered. */
export function aliasBreak(options: {
  zones: Pick<ZoneRows, 'get' | 'setSupportsAlias'>;
  /** The hostname and kind of an attached domain; @throws VivariumError `not_found`. */
  domain: (hostname: string) => { hostname: string; kind: 'apex' | 'subdomain' };
  zoneOf: (hostname: string) => { zone: string } | null;
  changed: (zone: DomainName) => void;
}): StateBreak {
  function put(detail: unknown, supportsAlias: boolean): void {
    const { zone, createdAtMs } = kept.parse(detail);
    const row = options.zones.get(zone);
    if (row === null || row.createdAtMs !== createdAtMs || row.supportsAlias === supportsAlias) return;
    options.zones.setSupportsAlias(zone, supportsAlias);
    options.changed(zone);
  }

  return {
    prepare({ on }) {
      if (on.hostname === undefined) throw inputError('on.hostname', 'is needed: the hostname of an attached apex.');
      const { hostname, kind } = options.domain(on.hostname);
      const row = options.zones.get(options.zoneOf(hostname)?.zone ?? '');
      if (kind !== 'apex' || row === null || !row.supportsAlias) {
        const why =
          kind !== 'apex' ? 'it is a subdomain' : row === null ? 'no zone here has it' : 'its zone has no ALIAS';
        throw new VivariumError('conflict', `${hostname} can’t be broken so: ${why}.`);
      }
      const detail: z.infer<typeof kept> = { zone: row.name, createdAtMs: row.createdAtMs };
      return { edits: `alias support of ${row.name}`, detail };
    },
    apply: ({ detail }) => put(detail, false),
    undo: ({ detail }) => put(detail, true),
  };
}
