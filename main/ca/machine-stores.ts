import { nssPlaces } from './nss-places.ts';
import { certutilInstall, findProgram } from './programs.ts';
import type { RunCommand } from './run-command.ts';
import { createLinuxStore, type SystemLayout } from './truststore-linux.ts';
import { createMacosStore } from './truststore-macos.ts';
import { createNssStore } from './truststore-nss.ts';
import { createWindowsStore } from './truststore-windows.ts';
import type { TrustStore } from './truststore.ts';

export interface MachineOptions {
  platform: NodeJS.Platform;
  /** The home folder of the user who owns the stores. */
  home: string;
  environment: NodeJS.ProcessEnv;
  run: RunCommand;
  /** Whether the process may change the system without a password: user id 0. */
  privileged: boolean;
  /** The folder of Linux's system store; by default those of the known distributions. */
  layouts?: readonly SystemLayout[];
}

/** The current trust stores of this machine and user. */
export function machineStores(options: MachineOptions): TrustStore[] {
  const { platform, environment, run } = options;
  // Windows has a different program of that name.
  const certutil = platform === 'win32' ? null : findProgram('certutil', environment, platform);
  const install = certutil === null ? certutilInstall(platform) : undefined;
  const nss = nssPlaces(options).map((place) => createNssStore({ ...place, certutil, install, platform, run }));
  return [systemStore(options), ...nss];
}

function systemStore({ platform, home, environment, run, privileged, layouts }: MachineOptions): TrustStore {
  if (platform === 'darwin') return createMacosStore({ home, run });
  if (platform === 'win32') return createWindowsStore({ environment, run });
  return createLinuxStore({ privileged, ...(layouts !== undefined && { layouts }) });
}
