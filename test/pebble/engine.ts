import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeFile } from '../../main/base/config.ts';

/** The folder of the engine that both programs use; `pebble-challtestsrv` starts it. */
export const DATA_DIR = process.env['VIVARIUM_PEBBLE_DATA'] ?? join(tmpdir(), 'vivarium-pebble');

const TRY_MS = 100;
const TRIES_MAX = 600;

/** Null while it does not serve. */
async function serving(): Promise<RuntimeFile | null> {
  try {
    const runtime = JSON.parse(readFileSync(join(DATA_DIR, 'runtime.json'), 'utf8')) as RuntimeFile;
    return (await fetch(`${runtime.control.url}/healthz`)).ok ? runtime : null;
  } catch {
    return null;
  }
}

/** The engine, once it serves; either program may be started before the other has started it. */
export function engineReady(): Promise<RuntimeFile> {
  return new Promise((resolve, reject) => {
    let tries = 0;
    const timer = setInterval(() => {
      void serving().then((runtime) => {
        if (runtime === null && ++tries < TRIES_MAX) return;
        clearInterval(timer);
        if (runtime === null) reject(new Error(`No engine serves ${DATA_DIR}; pebble-challtestsrv starts it.`));
        else resolve(runtime);
      });
    }, TRY_MS);
  });
}

/** The value of `-name VALUE` on the command line. */
export function option(name: string, otherwise: string): string {
  const at = process.argv.findIndex((word) => word === `-${name}` || word === `--${name}`);
  // certbot-ci writes '""' for an empty value.
  return at < 0 ? otherwise : (process.argv[at + 1] ?? '').replaceAll('"', '');
}

/** The port of `:8055` and of `0.0.0.0:14000`. */
export const portOf = (address: string): number => Number(address.split(':').at(-1));
