import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { openAuthority } from '../../../main/ca/authority.ts';
import { type Command, type RunCommand, createRunCommand } from '../../../main/ca/stores/run-command.ts';
import { machineStores, type MachineOptions } from '../../../main/ca/stores/machine-stores.ts';
import { createTrustStores, type TrustLedger, type TrustStoresOptions } from '../../../main/ca/stores/truststores.ts';
import { run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const clock = createClock();

/** A user's machine in its own folder: an empty home, and a Vivarium with its root. */
export function createMachine(
  changes: Partial<MachineOptions> & { ledger?: TrustLedger; served?: TrustStoresOptions['served'] } = {},
) {
  const home = changes.home ?? temporaryFolder();
  const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: home, ...changes.environment };
  const authority = openAuthority({ directory: join(temporaryFolder(), 'ca'), clock, owner: 'anna@laptop' });
  const commands: Command[] = [];
  const real = createRunCommand({ clock, environment });
  const recorded: RunCommand = (command) => {
    commands.push(command);
    return real(command);
  };
  const machine: MachineOptions = {
    platform: 'linux',
    layouts: [],
    privileged: false,
    run: recorded,
    ...changes,
    home,
    environment,
  };
  const stores = createTrustStores({
    stores: () => machineStores(machine),
    own: () => ({ current: authority.root(), older: authority.older(), file: authority.certificateFile }),
    run: machine.run,
    platform: machine.platform,
    served: changes.served ?? (() => null),
    ledger: changes.ledger ?? { note: () => Promise.resolve(), forget: () => Promise.resolve() },
  });
  const statusOf = async (id: string) => (await stores.list()).find((status) => status.store === id);
  return { home, authority, stores, statusOf, commands };
}

/** Creates an empty NSS database, as a browser does on its first start. */
export async function makeDatabase(folder: string, passwordFile?: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const password = passwordFile === undefined ? ['--empty-password'] : ['-f', passwordFile];
  expect(await run('certutil', ['-N', '-d', `sql:${folder}`, ...password])).toMatchObject({ code: 0 });
  return folder;
}

export async function importInto(folder: string, nickname: string, pem: string, trust = 'C,,'): Promise<void> {
  const file = join(temporaryFolder(), 'certificate.pem');
  writeFileSync(file, pem);
  const added = await run('certutil', ['-A', '-d', `sql:${folder}`, '-t', trust, '-n', nickname, '-i', file]);
  expect(added).toMatchObject({ code: 0 });
}

/** Nicknames and trust, as `certutil -L` lists them. */
export async function listed(folder: string): Promise<string[]> {
  const { text } = await run('certutil', ['-L', '-d', `sql:${folder}`]);
  return text
    .split('\n')
    .slice(4)
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().replace(/\s{2,}/, ' | '));
}
