import { realTime } from '../base/clock.ts';
import type { DoctorReport } from '../contract/doctor.ts';
import { callProcedure } from './client.ts';
import { resolveDataDir } from '../base/data-dir.ts';
import type { LoadedCommand } from './command.ts';
import { surplusHint } from './eaten-options.ts';
import { renderReport } from './doctor-report.ts';
import { failureOf, EXIT_FAILED, EXIT_OK, printFailure, type Io } from './io.ts';
import { DATA_DIR_FLAG, HELP_FLAG, isOn, JSON_FLAG, lastOf, readArguments, usageError } from './flags.ts';
import { readRuntime, type Running, type RuntimePorts, type RuntimeReading } from '../base/runtime-file.ts';
import { PORT_FLAGS, readServeConfig } from './serve-options.ts';
import { jsonLine, rendererFor } from './text.ts';

export const DOCTOR: LoadedCommand = {
  options: [JSON_FLAG, DATA_DIR_FLAG, ...PORT_FLAGS, HELP_FLAG],
  help: () => DOCTOR_HELP,
  run: doctor,
};

const DOCTOR_HELP = `vivarium doctor: check the environment and suggest fixes

Usage
  vivarium doctor [options]

  Checks ports, listeners, DNS, a handshake with each domain, trust stores, clocks, disk, database, backups, the root and
  this machine. Changes nothing. If no Vivarium is running, it checks the data folder and the ports that a start
  would use.

Options
  --json          The report as JSON
  --data-dir DIR  The data folder
  --http-port PORT, --https-port, --dns-port, --control-port
                  Ports to check if no Vivarium is running; as for "vivarium serve"
  --help          This text

Exit codes
  0  nothing failed; there may be warnings
  1  a check failed, or usage error

Examples
  vivarium doctor
  vivarium doctor --json
  vivarium doctor --data-dir ./vivarium-data --http-port 9080
`;

/** Longer than the engine's own limit for a run, so a timeout means that the engine hangs. */
const ANSWER_MS_MAX = 40_000;

/**
 * The command `doctor`: asks the running Vivarium, or examines the folder itself when none runs or the engine hangs.
 */
async function doctor(args: readonly string[], io: Io): Promise<number> {
  try {
    const { json, dataDir, ports } = readDoctorOptions(args, io);
    const report = await reportOn(dataDir, ports);
    const { stdout } = io;
    stdout.write(json ? jsonLine(JSON.stringify(report), stdout) : renderReport(report, rendererFor(io)));
    return report.counts.failed > 0 ? EXIT_FAILED : EXIT_OK;
  } catch (error) {
    return printFailure(error, args, io);
  }
}

/** @throws VivariumError `invalid_request` with one sentence that says what to change. */
export function readDoctorOptions(
  args: readonly string[],
  io: Pick<Io, 'env' | 'platform' | 'homeDir' | 'workingDir'>,
) {
  const read = readArguments(args, DOCTOR.options);
  const [surplus] = read.positionals;
  if (surplus !== undefined)
    throw usageError(`doctor takes options only, not ${JSON.stringify(surplus)}.${surplusHint('doctor', io)}`);
  const given = [DATA_DIR_FLAG, ...PORT_FLAGS].flatMap(({ name }) =>
    (read.flags.get(name) ?? []).map((value) => `--${name}=${value}`),
  );
  const chosen = readServeConfig(given, io);
  const ports: Required<RuntimePorts> = {
    http: chosen.httpPort,
    https: chosen.httpsPort,
    dns: chosen.dnsPort,
    control: chosen.controlPort,
  };
  return {
    json: isOn(read, JSON_FLAG.name),
    dataDir: resolveDataDir(lastOf(read, DATA_DIR_FLAG.name), io),
    /** The ports that the next start would bind. */
    ports,
  };
}

async function reportOn(dataDir: string, nextPorts: Required<RuntimePorts>): Promise<DoctorReport> {
  const runtime = readRuntime(dataDir);
  const told = runtime.state === 'read' && runtime.alive ? await ask(runtime.control) : null;
  if (told !== null && 'report' in told) return told.report;
  const { examine } = await import('../examine.ts');
  const ports = { ...nextPorts, ...(runtime.state === 'read' && runtime.alive && runtime.ports) };
  return examine({
    dataDir,
    runtime: evidenceOf(runtime),
    silence: told?.silence ?? null,
    ports: PORTS.map(({ name, title }) => ({ name, title, port: ports[name], option: `--${name}-port` })),
  });
}

const PORTS = [
  { name: 'http', title: 'HTTP' },
  { name: 'https', title: 'HTTPS' },
  { name: 'dns', title: 'DNS' },
  { name: 'control', title: 'Control port' },
] as const;

/** The engine's report, or the reason why there is none. */
async function ask(running: Running): Promise<{ report: DoctorReport } | { silence: string }> {
  const patience = new AbortController();
  const timer = realTime.schedule(ANSWER_MS_MAX, () => patience.abort());
  try {
    const reply = await callProcedure(running, 'doctor.run', '{}', patience.signal);
    if (reply.kind === 'stream') return { silence: 'it is not a Vivarium server' };
    return { report: JSON.parse(reply.json) as DoctorReport };
  } catch (error) {
    if (patience.signal.aborted) return { silence: `no answer within ${ANSWER_MS_MAX / 1_000} s` };
    return { silence: failureOf(error).message };
  } finally {
    timer.cancel();
  }
}

function evidenceOf(runtime: RuntimeReading) {
  switch (runtime.state) {
    case 'absent':
      return { state: 'absent' } as const;
    case 'copied':
      return { state: 'absent' } as const;
    case 'damaged':
      return { state: 'unreadable', reason: 'it is damaged' } as const;
    case 'unreadable':
      return { state: 'unreadable', reason: runtime.code } as const;
    case 'read':
      return { state: 'read', pid: runtime.pid, alive: runtime.alive, url: runtime.control.url } as const;
  }
}
