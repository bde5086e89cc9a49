import type { RecordInfo } from '../../../main/contract/zones.ts';
import { type Engine, useEngine } from '../engine.ts';

/** One engine for a file of tests, which each call returns as new, with the zone `acme.test`. */
export function useZoneEngine(): (options?: { supportsAlias?: boolean }) => Promise<Engine> {
  const take = useEngine();
  return async (options = {}) => {
    const engine = await take();
    await engine.call('zones.create', { name: 'acme.test', ...options });
    return engine;
  };
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
