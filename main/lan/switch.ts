import { messageOf } from '../base/error-code.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createTurns } from '../base/turns.ts';
import { choosePlace, type Interfaces, type Place } from './interfaces.ts';
import { LAN_HOSTNAMES_MAX, type LanStatus } from '../contract/reach.ts';
import { DEVICE_PAC_PATH, qrCode } from './device-page.ts';

/** The interval at which the interface's address is checked, in real time. */
export const CHECK_MS = 1_000;

/** The listeners at a place. */
export interface Serving {
  close(): Promise<void>;
}

export type SwitchState<Opened extends Serving> =
  | { kind: 'off' }
  /** `wanted`: the requested interface or address. */
  | { kind: 'on'; wanted: string; place: Place; serving: Opened }
  /** The interface currently has no address, or its ports could not be opened. */
  | { kind: 'waiting'; wanted: string; problem: string };

export interface SwitchOptions<Opened extends Serving> {
  clock: Pick<Clock, 'realTimer'>;
  log: Pick<Log, 'info' | 'warn'>;
  readInterfaces: () => Interfaces;
  /** Opens all listeners or none. @throws VivariumError if a port is taken. */
  open: (place: Place) => Promise<Opened>;
  /** Stores the interface to serve at the next start; null for none. */
  kept: { get: () => string | null; set: (wanted: string | null) => void };
  onChanged: () => void;
}

/** Serves other devices on one interface; follows its address changes, disconnections and reconnections. */
export function createSwitch<Opened extends Serving>(options: SwitchOptions<Opened>) {
  const { clock, log, readInterfaces, kept, onChanged } = options;
  let state: SwitchState<Opened> = { kind: 'off' };
  let timer: Timer | null = null;
  /** Runs steps one after another, so that none sees a state that another is changing. */
  const { enqueue: inTurn } = createTurns(1);

  function enter(next: SwitchState<Opened>): void {
    state = next;
    timer?.cancel();
    timer = next.kind === 'off' ? null : clock.realTimer(CHECK_MS, () => void inTurn(follow));
    onChanged();
  }

  async function serve(wanted: string): Promise<void> {
    const place = choosePlace(readInterfaces(), wanted);
    const serving = await options.open(place);
    log.info('Serving other devices', { ...place });
    // Stored by name: the network may change the address.
    enter({ kind: 'on', wanted: wanted === '' ? place.interface : wanted, place, serving });
  }

  async function serveOrWait(wanted: string): Promise<void> {
    try {
      await serve(wanted);
    } catch (error) {
      const problem = messageOf(error);
      if (state.kind !== 'waiting' || state.problem !== problem) {
        log.warn('Cannot serve other devices for now', { interface: wanted, problem });
      }
      enter({ kind: 'waiting', wanted, problem });
    }
  }

  async function follow(): Promise<void> {
    if (state.kind === 'off') return;
    if (state.kind === 'on') {
      const { place } = state;
      const addresses = readInterfaces()[place.interface] ?? [];
      if (addresses.some(({ address }) => address === place.address)) {
        timer = clock.realTimer(CHECK_MS, () => void inTurn(follow));
        return;
      }
      // Sockets of a vanished interface cannot always be closed cleanly.
      await state.serving
        .close()
        .catch((error: unknown) => log.warn('Could not close the listeners of an interface cleanly', { error }));
    }
    await serveOrWait(state.wanted);
  }

  const servingOf = (): Opened | null => (state.kind === 'on' ? state.serving : null);

  async function end(): Promise<void> {
    const before = servingOf();
    if (state.kind !== 'off') enter({ kind: 'off' });
    await before?.close();
  }

  return {
    state: () => state,
    /** Whether the next start serves the interface again. */
    isKept: () => kept.get() !== null,
    /**
     * Serves on the wanted interface or address; if empty, on the only candidate. Then closes the previous listeners.
     * `keep`: whether the next start serves it again; unchanged if omitted. A pending wait continues.
     * @throws VivariumError of `choosePlace` and `open`, with nothing changed
     */
    start: (wanted: string, keep?: boolean) =>
      inTurn(async () => {
        if (state.kind === 'waiting' && state.wanted === wanted) {
          if (keep !== undefined) kept.set(keep ? wanted : null);
          return serveOrWait(wanted);
        }
        const place = choosePlace(readInterfaces(), wanted);
        if (state.kind !== 'on' || state.place.address !== place.address) {
          const before = servingOf();
          await serve(wanted);
          await before?.close();
        } else if (wanted !== '') state = { ...state, wanted };
        if (state.kind === 'on' && keep !== undefined) kept.set(keep ? state.wanted : null);
        onChanged();
      }),
    /** Like `start`, with the stored interface by default; waits for a missing interface. */
    resume: (named?: string) =>
      inTurn(async () => {
        const wanted = named ?? kept.get();
        if (wanted !== null) await serveOrWait(wanted);
      }),
    /** Stops serving, also at the next start. */
    stop: () =>
      inTurn(async () => {
        kept.set(null);
        await end();
        onChanged();
      }),
    /** Stops serving when the engine stops; the stored interface is kept. */
    close: () => inTurn(end),
  };
}

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
