import { foreignOf, type SystemAnswer } from '../base/system-names.ts';

/** A hostname that this system leads to another machine, where programs send their requests and API keys. */
export interface Elsewhere {
  /** Names the addresses, and what says so. */
  message: string;
  /** Which requests go there all the same, and which do not. */
  effect: string;
  /** A sentence; null where a change of this machine is the remedy, because DNS says so. */
  fix: string | null;
}

/** Null when nothing leads the hostname elsewhere. */
export function explainElsewhere(hostname: string, { addresses, hosts }: SystemAnswer): Elsewhere | null {
  const foreign = foreignOf(addresses);
  if (foreign.length === 0) return null;
  const leads = `This system leads ${hostname} to ${foreign.join(', ')}`;
  if (hosts === null) {
    return {
      message: `${leads}, as its DNS says.`,
      effect: 'Programs that ask the system reach that address; the proxy, the PAC file and DNS over HTTPS lead here.',
      fix: null,
    };
  }
  return {
    message: `${leads}, as line ${hosts.line} of ${hosts.file} says.`,
    effect:
      'Programs that ask the system reach that address, and so does Firefox, which asks no DNS over HTTPS for names of that file; ' +
      'the proxy and the PAC file lead here.',
    fix: `Remove line ${hosts.line} of ${hosts.file}, or change its address to 127.0.0.1.`,
  };
}
