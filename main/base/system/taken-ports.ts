import { createSocket } from 'node:dgram';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { type Config, LOOPBACK_ADDRESSES } from '../config.ts';
import { codeOf } from '../error-code.ts';
import { findPortHolder, type PortHolder, type Transport } from './port-holder.ts';
import { readRuntime } from './runtime-file.ts';
import { VivariumError } from '../../contract/errors.ts';

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
  return new VivariumError(
    'conflict',
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

/** The Vivarium that runs on a data folder. */
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
