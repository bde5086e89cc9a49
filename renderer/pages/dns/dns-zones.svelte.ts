import { parseDuration } from '../../../main/contract/duration.ts';
import type { Settings } from '../../../main/contract/settings.ts';
import type { ZoneInfo } from '../../../main/contract/zones.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery } from '../../connection/live-query.svelte.ts';
import { formatCounted, formatSpan } from '../../shared/time/format.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { shownRows, type RecordRow } from './records/record-rows.ts';
import type { SettingsSource } from '../../shared/session/settings-query.ts';
import type { Undoable } from '../../shared/session/toasts.svelte.ts';

/** The engine's limit for one import, in characters (`ZONE_TEXT_MAX` of the contract). */
export const ZONE_TEXT_MAX = 16 * 1024 * 1024;

/** The platform zone, as its table shows it. */
export interface PlatformZone {
  name: string;
  rows: readonly RecordRow[];
}

/** A zone's contents, saved before it is removed. */
export interface ZoneCopy {
  zone: ZoneInfo;
  text: string;
}

interface ZoneValues extends Record<string, unknown> {
  name: string;
  supportsAlias: boolean;
}

export class DnsZones {
  readonly zones: LiveQuery<ZoneInfo[]>;
  readonly platform: LiveQuery<PlatformZone>;
  readonly settings: LiveQuery<Settings>;
  readonly #client: Client;
  /** Whether verification queries Vivarium's own server. */
  readonly usesOwnServer: boolean = $derived.by(() => this.settings.value?.resolver === 'local');

  constructor(source: SettingsSource) {
    const { client, settings } = source;
    this.#client = client;
    // A zone includes its record count.
    this.zones = new LiveQuery(source, ['zones.changed', 'records.changed'], (signal) =>
      client.zones.list({}, { signal }),
    );
    this.platform = new LiveQuery(source, ['projects.changed'], async (signal) => {
      const { name, records } = await client.zones.platform({}, { signal });
      return { name, rows: shownRows(records) };
    });
    this.settings = settings;
  }

  /** The propagation delay in milliseconds; undefined until loaded. */
  get propagationMs(): number | undefined {
    const settings = this.settings.value;
    return settings === undefined ? undefined : parseDuration(settings.propagation);
  }

  /** A created zone is listed at once, so that its page and shortcuts wait for no read. */
  newZone(name = ''): Form<ZoneValues, ZoneInfo> {
    return new Form<ZoneValues, ZoneInfo>({
      values: { name, supportsAlias: true },
      submit: async (values) => {
        const zone = await this.#client.zones.create(values);
        this.zones.amend((all) => [...all.filter((other) => other.name !== zone.name), zone]);
        return zone;
      },
    });
  }

  /** Exports a zone so it can be restored. */
  async copy(zone: ZoneInfo): Promise<ZoneCopy> {
    const { text } = await this.#client.zones.export({ name: zone.name });
    return { zone, text };
  }

  /** Whether a copy is small enough to be imported. */
  canReturn({ text }: ZoneCopy): boolean {
    return text.length <= ZONE_TEXT_MAX;
  }

  /** Removes a zone with its records; undo restores it from the copy. */
  async remove({ zone, text }: ZoneCopy): Promise<Undoable> {
    const { name, supportsAlias, signed } = zone;
    await this.#client.zones.remove({ name });
    const records = formatCounted(zone.records, 'record', 'records');
    const delay = this.propagationMs ?? 0;
    const later = delay > 0 && zone.records > 0 ? formatSpan(delay) : undefined;
    return {
      text:
        `Removed ${name} with ${records}.` +
        (later === undefined ? '' : ` Undo restores them, visible after ${later} of propagation.`) +
        (signed === true ? ' After an undo, it is signed with a new key.' : ''),
      undo: async () => {
        await this.#client.zones.create({ name, supportsAlias });
        if (zone.records > 0) await this.#client.zones.import({ name, text, force: true });
        if (signed === true) await this.#client.zones.dnssec({ name, signed });
      },
      undone: `${name} is back with ${records}${later === undefined ? '' : `, visible in ${later}`}.`,
    };
  }

  close(): void {
    for (const query of [this.zones, this.platform]) query.close();
  }
}
