import { DEFAULT_PORTS, EVERY_ADDRESS, LOOPBACK_ADDRESSES, type Config } from '../../base/config.ts';
import { didYouMean } from '../../contract/issues.ts';
import { chosenDataDir, resolveDataDir } from '../../base/system/data-dir.ts';
import {
  DATA_DIR_FLAG,
  HELP_FLAG,
  readArguments,
  usageError,
  type Arguments,
  type Option,
  surplusHint,
  switchOption,
  valueOption,
} from '../words/flags.ts';
import type { Environment, Io } from '../text/io.ts';

type PortKey = keyof typeof DEFAULT_PORTS;
type SwitchKey = 'ephemeral' | 'empty' | 'open' | 'anyPorts';

/** The options of `start` other than `--data-dir`, in the order of the help. */
export const PORT_OPTIONS: readonly { key: PortKey; flag: string; for: string }[] = [
  { key: 'httpPort', flag: 'http-port', for: 'HTTP' },
  { key: 'httpsPort', flag: 'https-port', for: 'HTTPS' },
  { key: 'dnsPort', flag: 'dns-port', for: 'DNS, over UDP and TCP' },
  { key: 'controlPort', flag: 'control-port', for: 'the interface, scripts and this command line' },
];

export const SWITCH_OPTIONS: readonly { key: SwitchKey; flag: string; does: string }[] = [
  { key: 'anyPorts', flag: 'any-ports', does: 'Any free port for those not given' },
  { key: 'ephemeral', flag: 'ephemeral', does: 'Keep no data after the end' },
  { key: 'empty', flag: 'empty', does: 'No demo project on first start' },
  { key: 'open', flag: 'open', does: 'Open the interface in the default browser' },
];

/** `http-port` becomes `VIVARIUM_HTTP_PORT`. */
export const variableOf = (flag: string): string => `VIVARIUM_${flag.toUpperCase().replaceAll('-', '_')}`;

const withVariable = (option: Option): Option => ({ ...option, variable: variableOf(option.name) });

export const PORT_FLAGS: readonly Option[] = PORT_OPTIONS.map(({ key, flag, for: use }) => ({
  ...withVariable(valueOption(flag, 'PORT', `The port for ${use} (default ${DEFAULT_PORTS[key]}, 0 = any free one)`)),
  // What other servers call it.
  ...(key === 'httpPort' && { aliases: ['port'] }),
}));

const LAN_FLAG: Option = {
  ...valueOption('lan', 'INTERFACE', 'Also serve the hostnames to other devices, on this interface or address'),
  ...{ mayLackValue: true, variable: variableOf('lan') },
};

const HOST_FLAG = withVariable(
  valueOption('host', 'ADDRESS', `Inside a container: ${EVERY_ADDRESS} listens on every address`),
);

export const SERVE_FLAGS: readonly Option[] = [
  withVariable(DATA_DIR_FLAG),
  ...PORT_FLAGS,
  LAN_FLAG,
  HOST_FLAG,
  ...SWITCH_OPTIONS.map(({ flag, does }) => withVariable(switchOption(flag, does))),
  HELP_FLAG,
];

const PORT_MAX = 65_535;

/** Configuration of `start`. `dataDir` is null for an ephemeral start without a named folder. */
export type ServeConfig = Omit<Config, 'dataDir'> & {
  dataDir: string | null;
  /** Open the interface in the default browser. */
  open: boolean;
};

/**
 * Reads the configuration; flags override the environment, which overrides the defaults.
 * @throws VivariumError `invalid_request` with one sentence that says what to change.
 */
export function readServeConfig(
  args: readonly string[],
  place: Pick<Io, 'env' | 'platform' | 'homeDir' | 'workingDir'>,
): ServeConfig {
  const read = readArguments(args, SERVE_FLAGS);
  const [surplus] = read.positionals;
  if (surplus !== undefined) throw unexpected(surplus, place);
  const { anyPorts, ...switches } = Object.fromEntries(
    SWITCH_OPTIONS.map(({ key, flag }) => [key, readSwitch(flag, read, place.env)]),
  ) as Record<SwitchKey, boolean>;
  const ports = Object.fromEntries(
    PORT_OPTIONS.map(({ key, flag }) => [key, readPort(flag, read, place.env) ?? (anyPorts ? 0 : DEFAULT_PORTS[key])]),
  ) as Record<PortKey, number>;
  refuseSamePorts(ports);
  const named = read.last(DATA_DIR_FLAG);
  const dataDir = switches.ephemeral ? chosenDataDir(named, place) : resolveDataDir(named, place);
  const lan = readLan(read, place.env);
  const host = readHost(read, place.env);
  if (lan !== undefined && host !== undefined) {
    throw usageError('--host and --lan exclude each other: with --host, other devices already reach every listener.');
  }
  return { dataDir, ...ports, ...switches, ...(lan !== undefined && { lan }), ...(host !== undefined && { host }) };
}

function unexpected(word: string, place: Pick<Io, 'env'>) {
  const names = SERVE_FLAGS.map(({ name }) => name);
  const hint = didYouMean(word, names).replaceAll(/"([^"]+)"/g, '--$1');
  return usageError(`start takes options only, not ${JSON.stringify(word)}.${hint}${surplusHint('start', place)}`);
}

/** Undefined for loopback, the default. */
function readHost(read: Arguments, env: Environment): typeof EVERY_ADDRESS | undefined {
  const given = read.last(HOST_FLAG);
  const text = given ?? env[variableOf(HOST_FLAG.name)] ?? '';
  const [loopback] = LOOPBACK_ADDRESSES;
  if (text === loopback || (given === undefined && text === '')) return undefined;
  if (text === EVERY_ADDRESS) return text;
  const name = given === undefined ? variableOf(HOST_FLAG.name) : '--host';
  throw usageError(
    `${name} must be ${EVERY_ADDRESS} inside a container, or ${loopback}, the default, not ${JSON.stringify(text)}.`,
  );
}

function readPort(flag: string, read: Arguments, env: Environment): number | null {
  const given = read.last({ name: flag });
  const text = given ?? env[variableOf(flag)];
  if (text === undefined || (given === undefined && text === '')) return null;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : NaN;
  if (port >= 0 && port <= PORT_MAX) return port;
  const name = given === undefined ? variableOf(flag) : `--${flag}`;
  throw usageError(`${name} must be a port from 1 to ${PORT_MAX}, or 0 for any free one, not ${JSON.stringify(text)}.`);
}

function refuseSamePorts(ports: Record<PortKey, number>): void {
  for (const [index, one] of PORT_OPTIONS.entries()) {
    const other = PORT_OPTIONS.slice(index + 1).find(({ key }) => ports[key] !== 0 && ports[key] === ports[one.key]);
    if (other !== undefined) {
      throw usageError(`--${one.flag} and --${other.flag} are both ${ports[one.key]}; each needs its own port.`);
    }
  }
}

const ON = ['1', 'true', 'yes', 'on'];
const OFF = ['', '0', 'false', 'no', 'off'];

/** The interface or address; empty for the only one, undefined for none. The variable may also be 1 or 0. */
function readLan(read: Arguments, env: Environment): string | undefined {
  const given = read.last(LAN_FLAG);
  if (given !== undefined) return given;
  const text = (env[variableOf(LAN_FLAG.name)] ?? '').trim();
  if (OFF.includes(text.toLowerCase())) return undefined;
  return ON.includes(text.toLowerCase()) ? '' : text;
}

function readSwitch(flag: string, read: Arguments, env: Environment): boolean {
  const given = read.last({ name: flag });
  if (given !== undefined) return given === 'true';
  const text = (env[variableOf(flag)] ?? '').toLowerCase();
  if (ON.includes(text)) return true;
  if (OFF.includes(text)) return false;
  throw usageError(`${variableOf(flag)} must be 1 or 0, not ${JSON.stringify(text)}.`);
}
