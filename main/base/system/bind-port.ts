import { type AddressInfo, type Server, createServer } from 'node:net';
import { conflict, VivariumError } from '../../contract/errors.ts';
import { codeOf } from '../error-code.ts';
import { describePortHolder, type Transport, findPortHolder, type PortHolder } from './port-holder.ts';
import { createSocket } from 'node:dgram';
import { request } from 'node:http';
import { type Config, LOOPBACK_ADDRESSES } from '../config.ts';
import { readRuntime } from './runtime-file.ts';

/** Attempts to draw a free port that is free on all addresses. */
const FREE_PORT_ATTEMPTS_MAX = 20;

/** One port number, bound on every address of this machine. */
export interface BoundPort<AnyServer extends Server = Server> {
  port: number;
  addresses: string[];
  servers: AnyServer[];
  /** Addresses that could not be bound, each in a sentence. */
  warnings: string[];
}

interface BindOptions<AnyServer extends Server> {
  /** 0: any port that is free on all addresses. */
  port: number;
  /** The first one is required; a missing other one is a warning. */
  addresses: readonly string[];
  /** The option that sets the port, for errors: `--http-port`. */
  option: string;
  createServer: () => AnyServer;
}

/**
 * Binds one port number on all `addresses`.
 * @throws VivariumError `conflict` if the port is taken or needs privileges; its message names the port, its holder if
 *   known, and the option.
 */
export async function bindPort<AnyServer extends Server>(
  options: BindOptions<AnyServer>,
): Promise<BoundPort<AnyServer>> {
  for (let attempt = 1; ; attempt++) {
    const bound = await tryBind(options);
    if (bound !== null) return bound;
    if (attempt === FREE_PORT_ATTEMPTS_MAX) {
      throw conflict(`No port is free on all of ${options.addresses.join(', ')}. Choose one with ${options.option}.`);
    }
  }
}

/** Null if the drawn port is taken on another address. */
async function tryBind<AnyServer extends Server>(
  options: BindOptions<AnyServer>,
): Promise<BoundPort<AnyServer> | null> {
  const bound: BoundPort<AnyServer> = { port: options.port, addresses: [], servers: [], warnings: [] };
  for (const address of options.addresses) {
    const server = options.createServer();
    try {
      bound.port = await listen(server, bound.port, address);
      bound.servers.push(server);
      bound.addresses.push(address);
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (bound.servers.length > 0 && ADDRESS_MISSING_CODES.has(code)) {
        bound.warnings.push(missingAddress(address, bound.addresses));
        continue;
      }
      for (const other of bound.servers) other.close();
      if (code === 'EADDRINUSE' && options.port === 0) return null;
      throw portRefusal(error, { port: bound.port, where: address, transport: 'tcp', option: options.option });
    }
  }
  return bound;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Error codes for a missing address: no IPv6, or none on loopback. */
export const ADDRESS_MISSING_CODES: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
  'EPROTONOSUPPORT',
  'ENOTSUP',
]);

interface WantedPort {
  port: number;
  /** The address, optionally with transport: `127.0.0.1`, `UDP on ::1`. */
  where: string;
  transport: Transport;
  /** The option that sets the port: `--http-port`. */
  option: string;
}

/** The warning about an address that this machine lacks; one text for all ports, which the status shows once. */
export const missingAddress = (address: string, present: readonly string[]): string =>
  `This machine has no ${address}: Vivarium listens on ${present.join(', ')} only.`;

/** Explains why a port could not be bound, in one line that names the port, its holder if known, and the option. */
export function portRefusal(error: unknown, { port, where, transport, option }: WantedPort): VivariumError {
  const code = codeOf(error) ?? String(error);
  const change = `choose another port with ${option}`;
  return conflict(`Port ${port} (${where}) ${reason()}`, { cause: error });

  function reason(): string {
    switch (code) {
      case 'EADDRINUSE':
        return `is taken${describePortHolder(port, transport)}. Stop it there, or ${change}; --any-ports takes free ones where none is given.`;
      case 'EACCES':
        return `needs administrator rights on this system, as ports below 1024 do on many; ${change}, 1024 or above.`;
      default:
        return `cannot be listened to: ${code}; ${change}.`;
    }
  }
}

type PortKey = 'httpPort' | 'httpsPort' | 'dnsPort' | 'controlPort';

const PORTS: readonly { key: PortKey; option: string; transports: readonly Transport[] }[] = [
  { key: 'httpPort', option: '--http-port', transports: ['tcp'] },
  { key: 'httpsPort', option: '--https-port', transports: ['tcp'] },
  { key: 'dnsPort', option: '--dns-port', transports: ['tcp', 'udp'] },
  { key: 'controlPort', option: '--control-port', transports: ['tcp'] },
];

interface TakenPort {
  key: PortKey;
  option: string;
  port: number;
  holder: PortHolder | null;
}

/**
 * The error of a start that found a port taken: lists all taken ports, and names a Vivarium that holds them.
 * Any other error, and that of a single port held by another program, is returned unchanged.
 * @param usual the data folder of a Vivarium that was started without options, and the command that stops it
 */
export async function explainTakenPorts(
  error: unknown,
  config: Config,
  { dataDir: usualDataDir, stop: stopUsual }: { dataDir: string; stop: string },
): Promise<unknown> {
  if (!(error instanceof VivariumError) || codeOf(error.cause) !== 'EADDRINUSE') return error;
  const taken = await findTaken(config);
  const usual = runningOn(usualDataDir);
  const control = taken.find(({ key }) => key === 'controlPort');
  const answering = control !== undefined && (await answersAsVivarium(control.port)) ? control : null;
  const isVivarium = ({ port, holder }: TakenPort) =>
    holder === null
      ? port === answering?.port || usual?.ports.includes(port) === true
      : holder.pid === usual?.pid || holder.pid === answering?.holder?.pid;
  if (taken.length === 0 || (taken.length === 1 && !taken.some(isVivarium))) return error;
  const lines = taken.map((one) => {
    const holder = one.holder === null ? '' : ` by ${one.holder.name} (pid ${one.holder.pid})`;
    const who = isVivarium(one) ? `, which is a Vivarium${usual === null ? '' : ` on ${usualDataDir}`}` : '';
    return `  ${one.port} (${one.option})${holder}${who}`;
  });
  const stop =
    usual !== null && taken.some(isVivarium)
      ? `Stop that Vivarium with "${stopUsual}", or choose`
      : 'Stop what holds them, or choose';
  return conflict(
    `Ports already in use:\n${lines.join('\n')}\n${stop} other ports; --any-ports takes free ones where none is given.`,
    { cause: error.cause },
  );
}

async function findTaken(config: Config): Promise<TakenPort[]> {
  const taken: TakenPort[] = [];
  for (const { key, option, transports } of PORTS) {
    const port = config[key];
    if (port === 0) continue;
    for (const transport of transports) {
      const tries = LOOPBACK_ADDRESSES.map((address) => isTaken(port, address, transport));
      if (!(await Promise.all(tries)).includes(true)) continue;
      const holder = findPortHolder(port, { transport, besides: process.pid }) ?? findPortHolder(port, { transport });
      taken.push({ key, option, port, holder });
      break;
    }
  }
  return taken;
}

function isTaken(port: number, address: string, transport: Transport): Promise<boolean> {
  return new Promise((resolve) => {
    const refused = (error: unknown) => resolve(codeOf(error) === 'EADDRINUSE');
    if (transport === 'tcp') {
      const server = createServer().once('error', refused);
      server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(false)));
    } else {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4').once('error', refused);
      socket.bind({ port, address, exclusive: true }, () => socket.close(() => resolve(false)));
    }
  });
}

function runningOn(dataDir: string): { pid: number; ports: (number | undefined)[] } | null {
  const reading = readRuntime(dataDir);
  if (reading.state !== 'read' || !reading.alive) return null;
  return { pid: reading.pid, ports: Object.values(reading.ports) };
}

/** For a program on this machine. */
const ANSWER_MS_MAX = 1_000;

const HEALTHY = 'ok\n';

/** Asks without a token. */
function answersAsVivarium(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = request(
      { host: '127.0.0.1', port, path: '/healthz', agent: false, signal: AbortSignal.timeout(ANSWER_MS_MAX) },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > HEALTHY.length) response.destroy();
        });
        response.once('close', () => resolve(response.statusCode === 200 && text === HEALTHY));
      },
    );
    asking.once('error', () => resolve(false));
    asking.end();
  });
}
