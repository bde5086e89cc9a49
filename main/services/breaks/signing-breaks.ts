import { z } from 'zod';
import type { StateBreak } from '../../breaks/state-break.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { ZoneBreak } from '../../contract/zones.ts';
import { createSigningKey } from '../../dns/zones/signing-key.ts';
import type { DomainName } from '../../model/dns-name.ts';
import type { ZoneSigning } from '../../model/zone-signing.ts';
import type { ZoneRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';

const kept = z.object({
  zone: z.string(),
  before: z.enum(['expired', 'missing', 'wrong-key']).nullable(),
  /** Whether a foreign key existed before, which `wrong-key` needs. */
  hadStranger: z.boolean(),
});

/** Breaks the signatures of a hostname's zone. The zone must be signed; its keys are kept. */
export function signingBreak(
  broken: ZoneBreak,
  {
    zones,
    zoneOf,
    changed,
  }: {
    zones: Pick<ZoneRows, 'get' | 'setSigning'>;
    /** The closest local zone that contains a name. */
    zoneOf: (name: string) => { zone: string } | null;
    changed: (zone: DomainName) => void;
  },
): StateBreak {
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
      if (zone === undefined) throw new VivariumError('not_found', `${hostname} is in no local zone.`);
      const signing = zones.get(zone)?.signing ?? null;
      if (signing?.on !== true) {
        throw new VivariumError(
          'conflict',
          `"${zone}" is not signed; sign it first: \`zones.dnssec\` with signed true.`,
        );
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
