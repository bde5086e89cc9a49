import { isIP, isIPv4 } from 'node:net';
import { conflict, invalidRequest, notFound, type VivariumError } from '../contract/errors.ts';
import { ipv4Octets, ipv6Groups } from '../model/address.ts';

/** The result of `os.networkInterfaces()` for one interface. */
export type Interfaces = Readonly<Record<string, readonly { address: string; internal: boolean }[] | undefined>>;

/** An address of this machine on which other devices can be served. */
export interface Place {
  interface: string;
  address: string;
}

/** A place, and whether it may be chosen by default. */
export interface Choice extends Place {
  automatic: boolean;
}

/** Interface names of containers, virtual machines and VPNs, which users rarely mean. */
const VIRTUAL =
  /^(docker|br-|veth|virbr|vmnet|vboxnet|vethernet|lxc|lxdbr|podman|cni|flannel|utun|tun|tap|wg|tailscale|zt)/i;

/** In order of preference. `carrier` addresses may belong to the provider, so users must name them. */
const KINDS = ['private', 'local', 'self-assigned', 'carrier'] as const;
type Kind = (typeof KINDS)[number] | 'loopback' | 'link' | 'public';

/** Who can reach an address (RFC 1918, 3927, 4193, 4291, 6598). */
export function addressKind(address: string): Kind {
  if (isIPv4(address)) {
    const [a = 0, b = 0] = ipv4Octets(address);
    if (a === 127) return 'loopback';
    if (a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168)) return 'private';
    if (a === 169 && b === 254) return 'self-assigned';
    return a === 100 && b >= 64 && b < 128 ? 'carrier' : 'public';
  }
  const groups = ipv6Groups(address.split('%', 1)[0] ?? '');
  const [first = 0] = groups;
  if (groups.every((group, index) => group === (index === 7 ? 1 : 0))) return 'loopback';
  if ((first & 0xffc0) === 0xfe80) return 'link';
  return (first & 0xfe00) === 0xfc00 ? 'local' : 'public';
}

const rankOf = (address: string): number => (KINDS as readonly string[]).indexOf(addressKind(address));

/** The best usable address of each interface, sorted by interface name. */
export function choicesOf(found: Interfaces): Choice[] {
  return Object.keys(found)
    .sort()
    .flatMap((name) => {
      const usable = (found[name] ?? [])
        .filter(({ address, internal }) => !internal && rankOf(address) >= 0)
        .sort((one, other) => rankOf(one.address) - rankOf(other.address));
      const [best] = usable;
      if (best === undefined) return [];
      const automatic = !VIRTUAL.test(name) && addressKind(best.address) !== 'carrier';
      return [{ interface: name, address: best.address, automatic }];
    });
}

/**
 * Finds the place that `wanted` names, an interface or one of its addresses; if `wanted` is empty, the only candidate.
 * @throws VivariumError that lists the choices
 */
export function choosePlace(found: Interfaces, wanted: string): Place {
  if (isIP(wanted) !== 0) return placeAt(found, wanted);
  const choices = choicesOf(found);
  if (wanted === '') return onlyPlace(choices);
  const named = choices.find((choice) => choice.interface === wanted);
  if (named !== undefined) return placeOf(named);
  const addresses = found[wanted];
  if (addresses === undefined) {
    throw notFound(`This machine has no interface ${JSON.stringify(wanted)}. ${listed(choices)}`);
  }
  if (addresses.some(({ internal }) => internal)) throw loopbackRefusal(wanted);
  throw conflict(`${wanted} has no private address${publicOf(addresses)}. ${listed(choices)}`);
}

const placeOf = ({ interface: name, address }: Place): Place => ({ interface: name, address });

function placeAt(found: Interfaces, wanted: string): Place {
  if (/^(0\.0\.0\.0|[0:]+)$/.test(wanted)) {
    throw invalidRequest(
      `Vivarium serves other devices on one interface, not on all addresses. ${listed(choicesOf(found))}`,
    );
  }
  const kind = addressKind(wanted);
  if (kind === 'loopback') throw loopbackRefusal(wanted);
  for (const [name, addresses = []] of Object.entries(found)) {
    if (!addresses.some(({ address }) => address === wanted)) continue;
    if (rankOf(wanted) >= 0) return { interface: name, address: wanted };
    throw invalidRequest(
      kind === 'link'
        ? `${wanted} needs an interface name, which URLs cannot contain. ${listed(choicesOf(found))}`
        : `${wanted} is a public address: the whole internet could reach Vivarium there. ${listed(choicesOf(found))}`,
    );
  }
  throw notFound(`This machine does not have the address ${wanted}. ${listed(choicesOf(found))}`);
}

const loopbackRefusal = (name: string): VivariumError =>
  invalidRequest(`${name} is loopback, where Vivarium always listens.`);

const publicOf = (addresses: readonly { address: string }[]): string =>
  addresses.some(({ address }) => addressKind(address) === 'public') ? ', only public ones' : '';

function onlyPlace(choices: readonly Choice[]): Place {
  const likely = choices.filter(({ automatic }) => automatic);
  const [only] = likely;
  if (only !== undefined && likely.length === 1) return placeOf(only);
  if (likely.length > 1) {
    throw conflict(
      `This machine is on several networks: ${joined(likely)}. Name the interface to serve, such as ${only?.interface ?? ''}.`,
    );
  }
  const reason = 'This machine is not on a local network that can be chosen by default.';
  throw conflict(`${reason} ${listed(choices)}`);
}

const listed = (choices: readonly Choice[]): string =>
  choices.length === 0
    ? 'There is currently nothing to choose from: connect to a network first.'
    : `Choose from: ${joined(choices)}.`;

/** The most interfaces that a message lists. */
const NAMED_MAX = 10;

function joined(choices: readonly Choice[]): string {
  const named = choices.slice(0, NAMED_MAX).map(({ interface: name, address }) => `${name} (${address})`);
  return named.join(', ') + (choices.length > NAMED_MAX ? ', …' : '');
}
