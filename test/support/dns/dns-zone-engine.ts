import type { RecordInfo } from '../../../main/contract/zones.ts';
import { type Engine, startEngine } from '../engine.ts';

/** An engine with the zone `acme.test`. */
export async function engineWithZone(options: { supportsAlias?: boolean } = {}): Promise<Engine> {
  const engine = await startEngine({ empty: true, ephemeral: true });
  await engine.call('zones.create', { name: 'acme.test', ...options });
  return engine;
}

export const put = (engine: Engine, name: string, type: string, value: string, more: object = {}) =>
  engine.call('records.put', { zone: 'acme.test', name, type, value, ...more }) as Promise<RecordInfo>;

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
