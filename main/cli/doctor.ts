import type { DoctorArea, DoctorReport, DoctorCheck } from '../contract/doctor.ts';
import { isBad, verdictOf } from '../contract/doctor-words.ts';
import { askFor } from './engine/client.ts';
import { withCommandLines } from './words/command-line.ts';
import { failureOf, EXIT_FAILED, EXIT_OK, type Io } from './text/io.ts';
import { JSON_FLAG, usageError, type Arguments, valueOption, switchOption } from './words/flags.ts';
import { localCommand } from './words/command.ts';
import { readRuntime, type Running, type RuntimePorts, type RuntimeReading } from '../base/system/runtime-file.ts';
import { PORT_FLAGS, readServeConfig } from './engine/serve-options.ts';
import { jsonLine, rendererFor, columns, printable, widthOf, wrap } from './text/text.ts';
import type { Renderer, Style } from './text/text.ts';

/** Longer than the engine's own limit for a run, so a timeout means that the engine hangs. */
const ANSWER_MS_MAX = 40_000;

const AREAS_FLAG = valueOption(
  'areas',
  'AREA',
  'Only one area, such as browsers, which it starts only if asked; may be repeated',
);
const DROP_FLAG = switchOption('drop-bad-rows', 'Leave out the rows that a start refuses');

/** Asks the running Vivarium, or checks the folder itself when none runs or the engine hangs. */
export const DOCTOR = localCommand({
  name: 'doctor',
  title: 'check the environment and suggest fixes',
  options: [AREAS_FLAG, DROP_FLAG, JSON_FLAG, ...PORT_FLAGS],
  notes: [
    'Checks ports, listeners, DNS, a handshake with each domain, trust stores, clocks, disk, database, backups, the root',
    'and this machine. Changes nothing. If no Vivarium is running, it checks the data folder and the ports that a start',
    'would use: those given here, or as for "start".',
    '',
    '--drop-bad-rows  Removes from the database the rows that a start refuses, with what belongs to them, and changes',
    '                 nothing else. A copy of the database is made first. Vivarium must not be running.',
    '',
    'Exit code 1 when a check failed; 0 otherwise. "down" marks what does not work although Vivarium does, such as a',
    'misconfigured domain.',
  ],
  examples: [
    'vivarium doctor',
    'vivarium doctor --json',
    'vivarium doctor --data-dir ./vivarium-data --http-port 9080',
  ],
  async run(read, dataDir, io) {
    if (read.isOn(DROP_FLAG)) return dropBadRows(dataDir, read.isOn(JSON_FLAG), io);
    const report = await reportOn(dataDir, portsOfNextStart(read, io), await areasOf(read.flags.get(AREAS_FLAG.name)));
    const { stdout } = io;
    const isJson = read.isOn(JSON_FLAG);
    stdout.write(isJson ? jsonLine(JSON.stringify(report), stdout) : renderReport(report, rendererFor(io)));
    return report.counts.failed > 0 ? EXIT_FAILED : EXIT_OK;
  },
});

/** Undefined for all. @throws VivariumError `invalid_request` that lists them */
async function areasOf(given: readonly string[] | undefined): Promise<DoctorArea[] | undefined> {
  if (given === undefined) return undefined;
  const { doctorArea } = await import('../contract/doctor.ts');
  const read = doctorArea.array().safeParse(given);
  if (read.success) return read.data;
  throw usageError(`--${AREAS_FLAG.name} must be one of ${doctorArea.options.join(', ')}.`);
}

async function dropBadRows(dataDir: string, isJson: boolean, { stdout }: Io): Promise<number> {
  const { dropBadRowsAtRest } = await import('../offline/at-rest.ts');
  const done = dropBadRowsAtRest(dataDir);
  const lines =
    done.copy === null
      ? ['Every row can be used; nothing was changed.']
      : [
          'Left out, with what belonged to it:',
          ...done.dropped.map((what) => `  ${what}`),
          `The database as it was: ${done.copy}`,
        ];
  stdout.write(`${(isJson ? [JSON.stringify(done)] : lines.map(printable)).join('\n')}\n`);
  return EXIT_OK;
}

/** @throws VivariumError `invalid_request` with one sentence that says what to change. */
function portsOfNextStart(read: Arguments, io: Io): Required<RuntimePorts> {
  const given = PORT_FLAGS.flatMap(({ name }) => read.all({ name }).map((value) => `--${name}=${value}`));
  const { httpPort, httpsPort, dnsPort, controlPort } = readServeConfig(given, io);
  return { http: httpPort, https: httpsPort, dns: dnsPort, control: controlPort };
}

async function reportOn(
  dataDir: string,
  nextPorts: Required<RuntimePorts>,
  areas: DoctorArea[] | undefined,
): Promise<DoctorReport> {
  const runtime = readRuntime(dataDir);
  const told = runtime.state === 'read' && runtime.alive ? await ask(runtime.control, areas) : null;
  if (told !== null && 'report' in told) return told.report;
  const { checkFolder } = await import('../offline/at-rest.ts');
  const ports = { ...nextPorts, ...(runtime.state === 'read' && runtime.alive && runtime.ports) };
  const engine = {
    dataDir,
    runtime: evidenceOf(runtime),
    silence: told?.silence ?? null,
    ports: PORTS.map(({ name, title }) => ({ name, title, port: ports[name], option: `--${name}-port` })),
  };
  return checkFolder(engine, areas);
}

const PORTS = [
  { name: 'http', title: 'HTTP' },
  { name: 'https', title: 'HTTPS' },
  { name: 'dns', title: 'DNS' },
  { name: 'control', title: 'Control port' },
] as const;

/** The engine's report, or the reason why there is none. */
async function ask(running: Running, areas?: DoctorArea[]): Promise<{ report: DoctorReport } | { silence: string }> {
  const patience = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    return { report: await askFor(running, 'doctor.run', { areas }, patience) };
  } catch (error) {
    return { silence: patience.aborted ? `no answer within ${ANSWER_MS_MAX / 1_000} s` : failureOf(error).message };
  }
}

function evidenceOf(runtime: RuntimeReading) {
  switch (runtime.state) {
    case 'absent':
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

/** The word before a check: its status, or `down` for what is red in the window although Vivarium works. */
const markOf = (check: DoctorCheck): string => (check.status === 'warning' && isBad(check) ? 'down' : check.status);

/**
 * Renders a report as text: one line for each check that passed, full details for the others; the most urgent last,
 * right above the prompt.
 */
export function renderReport(report: DoctorReport, { style, width }: Renderer): string {
  const of = (mark: string): DoctorCheck[] => report.checks.filter((check) => markOf(check) === mark);
  const quiet = [...of('ok'), ...of('skipped')];
  const loud = [...of('warning'), ...of('down'), ...of('failed')];
  const { title, rest } = verdictOf(report.counts);
  return [
    ...quietLines(quiet, style, width),
    ...loud.flatMap((check) => ['', ...section(check, style, width)]),
    '',
    ...wrap(rest === '' ? `${title}.` : `${title}; ${rest}.`, width).map((line) => style.heading(line)),
    '',
  ].join('\n');
}

const INDENT = '    ';

/** Evidence with less room than this next to the titles goes below them. */
const EVIDENCE_WIDTH_MIN = 24;

function quietLines(checks: readonly DoctorCheck[], style: Style, width: number | null): string[] {
  const heads = columns(checks.map(({ status, title }) => [status, printable(title)]));
  const beside = Math.max(0, ...heads.map(widthOf)) + 2;
  const isBelow = width !== null && width - beside < EVIDENCE_WIDTH_MIN;
  const margin = isBelow ? INDENT : ' '.repeat(beside);
  return checks.flatMap(({ status, evidence: [evidence = ''] }, index) => {
    const head = heads[index] ?? '';
    const [first = '', ...rest] = wrap(printable(evidence), width === null ? null : width - margin.length);
    const lines = isBelow ? [head, margin + first] : [head + ' '.repeat(beside - widthOf(head)) + first];
    const shown = [...lines, ...rest.map((line) => margin + line)].map((line) => line.trimEnd());
    return shown
      .filter((line) => line !== '')
      .map((line, place) => (place === 0 ? style.word(status) + line.slice(status.length) : line));
  });
}

function section(check: DoctorCheck, style: Style, width: number | null): string[] {
  const { title, evidence, fix, about, commands, otherwise } = check;
  const indented = (text: string, first = INDENT, rest = INDENT): string[] =>
    wrap(printable(text), width === null ? null : width - INDENT.length).map(
      (line, index) => (index === 0 ? first : rest) + line,
    );
  return [
    `${style.word(markOf(check))}  ${style.heading(printable(title))}`,
    ...evidence.flatMap((line) => indented(line)),
    ...(fix === undefined ? [] : indented(withCommandLines(`${fix} ${about ?? ''}`.trim()), '  → ')),
    // Not wrapped, to keep them copyable.
    ...(commands?.split('\n').map((line) => `${INDENT}${INDENT}${printable(line)}`) ?? []),
    ...(otherwise === undefined ? [] : [`${INDENT}or`, `${INDENT}${INDENT}${printable(otherwise)}`]),
  ];
}
