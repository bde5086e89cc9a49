import type { RecordInfo } from '../../../main/contract/zones.ts';
import { engineTest } from '../engine-test.ts';
import type { Output } from '../rpc/rpc-call.ts';
import type { Engine } from '../engine.ts';

export interface ZoneEngine extends Engine {
  put(name: string, type: string, value: string, more?: object): Promise<RecordInfo>;
  /** Imports a zone file. */
  load(text: string, more?: object): Promise<Output<'zones.import'>>;
  records(more?: object): Promise<RecordInfo[]>;
}

/** `it` with the empty zone `acme.test`, and what changes and reads it. */
export const zoneTest = engineTest({ empty: true }, async (engine): Promise<ZoneEngine> => {
  const { call } = engine;
  await call('zones.create', { name: 'acme.test' });
  return {
    ...engine,
    put: (name, type, value, more) => call('records.put', { zone: 'acme.test', name, type, value, ...more }),
    load: (text, more) => call('zones.import', { name: 'acme.test', text, ...more }),
    records: (more) => call('records.list', { zone: 'acme.test', ...more }),
  };
})
  .extend('put', ({ engine }) => engine.put)
  .extend('load', ({ engine }) => engine.load)
  .extend('records', ({ engine }) => engine.records);

export interface Refusal {
  code: string;
  message: string;
  issues?: { path: string; message: string; forcible?: true }[];
}

/** The error of a call that must be refused. */
export const refusal = (call: Promise<unknown>): Promise<Refusal> =>
  call.then(
    (value) => Promise.reject(new Error(`It was taken: ${JSON.stringify(value)}`)),
    (error: Refusal) => error,
  );
