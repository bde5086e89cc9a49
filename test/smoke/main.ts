/** `npm run smoke`: see `USAGE`. Uses only Node’s own modules; nothing to install besides Vivarium. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Check, runChecks } from './checks.ts';
import { Program } from './program.ts';
import { readSubject, type Subject, USAGE } from './subject.ts';

const OUTPUT_LENGTH_MAX = 4_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What a reader of the report has to know about the machine. */
function describeMachine({ app: [program] }: Subject): string[] {
  const { platform, arch, env } = process;
  const lines = [`${platform} ${arch} ${release()}, Node ${process.versions.node}`, `The app is ${program}`];
  if (platform !== 'linux') return lines;
  const session = ['XDG_SESSION_TYPE', 'XDG_CURRENT_DESKTOP', 'WAYLAND_DISPLAY', 'DISPLAY', 'DBUS_SESSION_BUS_ADDRESS'];
  const restriction = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
  const helper = join(dirname(program), 'chrome-sandbox');
  return [
    ...lines,
    session.map((name) => `${name}=${env[name] ?? ''}`).join(' '),
    `User namespaces restricted: ${existsSync(restriction) ? readFileSync(restriction, 'utf8').trim() : 'no'}`,
    `chrome-sandbox: ${existsSync(helper) ? (statSync(helper).mode & 0o7777).toString(8) : 'none'}`,
  ];
}

async function examine(subject: Subject): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'vivarium-smoke-'));
  const program = new Program(subject, dataDir);
  const counts = { ok: 0, failed: 0 };
  const check: Check = async (title, run) => {
    const begun = performance.now();
    const took = () => `(${Math.round(performance.now() - begun)} ms)`;
    try {
      const note = await run();
      counts.ok += 1;
      say(`ok    ${title} ${took()}${typeof note === 'string' ? `: ${note}` : ''}`);
      return true;
    } catch (error) {
      counts.failed += 1;
      say(`FAIL  ${title} ${took()}: ${(error as Error).message}`);
      return false;
    }
  };
  say(`Vivarium’s smoke test, ${new Date().toISOString()}`);
  for (const line of describeMachine(subject)) say(line);
  try {
    await runChecks(program, check);
    say(`${counts.ok} of ${counts.ok + counts.failed} ok`);
    if (counts.failed > 0) showOutput(program);
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
  return counts.failed > 0 ? 1 : 0;
}

function showOutput({ printed, dataDir }: Program): void {
  say(`\nWhat the app printed last:\n${printed.slice(-OUTPUT_LENGTH_MAX)}`);
  const log = join(dataDir, 'logs', 'vivarium.log');
  if (existsSync(log)) say(`\nThe end of its log:\n${readFileSync(log, 'utf8').slice(-OUTPUT_LENGTH_MAX)}`);
}

try {
  const subject = readSubject(process.argv.slice(2));
  if (subject === null) process.stdout.write(USAGE);
  else process.exitCode = await examine(subject);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
