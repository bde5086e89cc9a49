import { existsSync, readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { OWNER_ONLY, writeFileAtomically } from '../base/files.ts';
import { hashSecret } from '../base/secret.ts';
import { type DemoKey, type DemoServices, makeDemoProjects, removeDemoProjects } from './demo-projects.ts';
import type { KeyRow, KeyRows, SettingRows } from './dependencies.ts';

const demoKeyFile = z.object({ projectId: z.string(), keyId: z.string(), secret: z.string() });

/** Remembers that the first start has been, so that what was removed of the demo does not come back. */
const FIRST_START_SETTING = 'firstStartAt';

export interface Demo {
  /** On the very first start: makes the demo, unless `empty`. Later: nothing. */
  prepare(options: { empty: boolean; now: number }): Promise<void>;
  /** The demo key, while it is in force. */
  key(): DemoKey | null;
  /** Forgets the readable key when it, or its project, is gone. */
  forget(gone: { keyId?: string; projectId?: string }): void;
}

export function createDemo(options: {
  /** Where the key is kept, mode 0600; null keeps it in memory. */
  file: string | null;
  keys: KeyRows;
  settings: SettingRows;
  services: DemoServices;
  /** The text of `resources/demo/pets.json`. */
  petsJson: () => string;
}): Demo {
  const { file, keys, settings, services } = options;
  let known = file === null ? null : readKey(file, keys);

  async function create(): Promise<void> {
    await removeDemoProjects(services);
    known = await makeDemoProjects(services, options.petsJson());
    if (file !== null) writeFileAtomically(file, `${JSON.stringify(known, null, 2)}\n`, OWNER_ONLY);
  }

  return {
    async prepare({ empty, now }) {
      if (settings.get()[FIRST_START_SETTING] !== undefined) return;
      if (!empty) await create();
      settings.set(FIRST_START_SETTING, new Date(now).toISOString());
    },
    key: () => known,
    forget({ keyId, projectId }) {
      if (known === null || (known.keyId !== keyId && known.projectId !== projectId)) return;
      known = null;
      if (file !== null) rmSync(file, { force: true });
    },
  };
}

/** The key in `file`, if it is still what the store knows; anything else is as if there were none. */
function readKey(file: string, keys: KeyRows): DemoKey | null {
  if (!existsSync(file)) return null;
  let text: unknown;
  try {
    text = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
  const read = demoKeyFile.safeParse(text);
  if (!read.success) return null;
  const row: KeyRow | null = keys.get(read.data.keyId);
  const inForce = row !== null && row.revokedAtMs === null && row.hash === hashSecret(read.data.secret);
  return inForce ? read.data : null;
}
