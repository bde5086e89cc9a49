import { LAN_HOSTNAMES_MAX, type LanStatus } from '../contract/reach.ts';
import { DEVICE_PAC_PATH, qrCode } from './device-page.ts';
import type { Serving, SwitchState } from './switch.ts';

/** Listeners that are announced by multicast DNS. */
interface Announced extends Serving {
  announcer: { name(): string | null };
}

/** An address as the host of a URL. */
export const hostOf = (address: string): string => (address.includes(':') ? `[${address}]` : address);

export const originAt = (address: string, httpPort: number): string => `http://${hostOf(address)}:${httpPort}`;

/** The page for other devices; null while switched off. */
export const pageUrl = (state: SwitchState<Serving>, httpPort: number): string | null =>
  state.kind === 'on' ? `${originAt(state.place.address, httpPort)}/` : null;

/** The interface or address that is served, or waited for. */
export const wantedIn = (state: SwitchState<Serving>): string | undefined =>
  state.kind === 'off' ? undefined : state.wanted;

/** Why other devices are not served although they should be; null otherwise. */
export const waitingWarning = (state: SwitchState<Serving>): string | null =>
  state.kind === 'waiting' ? `Vivarium can’t serve other devices at present: ${state.problem}` : null;

export function describeLan(
  state: SwitchState<Announced>,
  served: Pick<LanStatus, 'keep' | 'choices'> & {
    hostnames: readonly string[];
    ports: { http: number; dns: number };
  },
): LanStatus {
  const { keep, choices, hostnames, ports } = served;
  const shared = {
    ...{ keep, choices },
    hostnames: hostnames.slice(0, LAN_HOSTNAMES_MAX),
    hostnamesTotal: hostnames.length,
  };
  if (state.kind === 'off') return { state: 'off', ...shared };
  const { wanted } = state;
  if (state.kind === 'waiting') return { state: 'waiting', ...shared, wanted, problem: state.problem };
  const { place, serving } = state;
  const origin = originAt(place.address, ports.http);
  const name = serving.announcer.name();
  return {
    ...{ state: 'on', ...shared, wanted, ...place, url: `${origin}/`, qr: qrCode(`${origin}/`) },
    ...(name !== null && { localUrl: `${originAt(name, ports.http)}/` }),
    pacUrl: origin + DEVICE_PAC_PATH,
    dns: `${hostOf(place.address)}:${ports.dns}`,
  };
}
