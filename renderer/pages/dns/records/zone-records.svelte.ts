import type { PropagatingRRset, RecordInfo } from '../../../../main/contract/zones.ts';
import type { Client } from '../../../connection/transport.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';
import { recordTitle, rowsOf, type RecordRow, type RecordText } from './record-rows.ts';
import type { Undoable } from '../../../shared/session/toasts.svelte.ts';
import { readCount } from '../../../shared/controls/typed-count.ts';

export interface RecordValues extends Record<string, unknown> {
  name: string;
  type: RecordInfo['type'];
  ttl: string;
  value: string;
}

export const DEFAULT_TTL = '3600';

/** A completed action with its undo. */
export type RecordChange = Undoable & { record: RecordInfo };

export interface ZoneContents {
  records: readonly RecordInfo[];
  propagating: readonly PropagatingRRset[];
  rows: readonly RecordRow[];
}

/** The records of one zone: current ones, pending changes, and every action with its undo. */
export class ZoneRecords {
  readonly zone: string;
  readonly contents: LiveQuery<ZoneContents>;
  readonly #client: Client;

  constructor(source: Source & { zone: string }) {
    const { client, zone } = source;
    this.zone = zone;
    this.#client = client;
    this.contents = new LiveQuery(
      source,
      (change) =>
        change.type === 'zones.changed' ||
        (change.type === 'records.changed' && (change.zone === undefined || change.zone === zone)),
      async (signal) => {
        const [records, propagating, runs] = await Promise.all([
          client.records.list({ zone }, { signal }),
          client.records.propagating({ zone }, { signal }),
          client.runs.list({}, { signal }),
        ]);
        const held = runs.flatMap((run) => run.records ?? []);
        return { records, propagating, rows: rowsOf(records, propagating, held) };
      },
    );
  }

  /** The form of a new record; `force` stores what a lenient provider would accept. */
  newRecord(): Form<RecordValues, RecordChange> {
    return new Form<RecordValues, RecordChange>({
      values: { name: '', type: 'A', ttl: DEFAULT_TTL, value: '' },
      submit: (values, { force }) => this.#add(values, force),
    });
  }

  edit(record: RecordInfo): Form<RecordValues, RecordChange> {
    return new Form<RecordValues, RecordChange>({
      values: { name: record.name, type: record.type, ttl: String(record.ttl), value: record.value },
      submit: (values, { force }) => this.#change(record, values, force),
    });
  }

  async remove(record: RecordInfo): Promise<Undoable> {
    await this.#client.records.remove({ id: record.id });
    return {
      text: `Removed ${recordTitle(record)}.`,
      undo: () => this.#restore(record),
      undone: `${recordTitle(record)} is back.`,
    };
  }

  /** Restores a removed record that is still answered. */
  async restore(row: RecordRow): Promise<void> {
    await this.#restore({ ...row, type: row.type as RecordInfo['type'] });
  }

  close(): void {
    this.contents.close();
  }

  /** The current id of a record, which changes when it is removed and restored. */
  async #idOf({ id, name, type, value }: RecordInfo): Promise<string> {
    const here = await this.#client.records.list({ zone: this.zone, name });
    return here.find((record) => record.type === type && record.value === value)?.id ?? id;
  }

  /** Restores with force: the record was accepted that way before. */
  async #restore({ name, type, ttl, value }: RecordText): Promise<void> {
    await this.#client.records.put({ zone: this.zone, name, type, ttl, value, force: true });
  }

  async #add({ name, type, ttl, value }: RecordValues, force: boolean): Promise<RecordChange> {
    const before = this.contents.value?.records ?? [];
    const record = await this.#client.records.put({ zone: this.zone, name, type, ttl: readCount(ttl), value, force });
    const same = before.find(({ id }) => id === record.id);
    return {
      record,
      text: withWarnings(
        same === undefined
          ? `Added ${recordTitle(record)}.`
          : `${recordTitle(record)} already existed; its TTL is ${record.ttl}.`,
        record,
      ),
      undo: async () => {
        const id = await this.#idOf(record);
        if (same === undefined) await this.#client.records.remove({ id });
        else await this.#client.records.update({ id, ttl: same.ttl, force: true });
      },
      undone:
        same === undefined ? `${recordTitle(record)} is removed again.` : `${recordTitle(same)} has its TTL back.`,
    };
  }

  async #change(before: RecordInfo, values: RecordValues, force: boolean): Promise<RecordChange> {
    const { id } = before;
    // Only changed fields: the displayed text may be shorter than the stored one.
    const record = await this.#client.records.update({
      id,
      ...(values.name !== before.name && { name: values.name }),
      ...(values.type !== before.type && { type: values.type }),
      ...(values.ttl !== String(before.ttl) && { ttl: readCount(values.ttl) }),
      ...(values.value !== before.value && { value: values.value }),
      force,
    });
    const { name, type, ttl, value } = before;
    return {
      record,
      text: withWarnings(`Changed ${recordTitle(before)} to ${recordTitle(record)}.`, record),
      undo: async () => {
        // Recreate records that merged with another.
        if (record.id !== id) return await this.#restore(before);
        await this.#client.records.update({ id: await this.#idOf(record), name, type, ttl, value, force: true });
      },
      undone: `${recordTitle(before)} is as it was.`,
    };
  }
}

const withWarnings = (text: string, { warnings = [] }: RecordInfo): string => [text, ...warnings].join(' ');
