import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { DoctorReport } from '../../../main/contract/doctor.ts';
import { claimDataFolder } from '../../../main/store/data-folder.ts';
import { runHere } from '../../support/cli-io.ts';
import { startEngine } from '../../support/engine.ts';
import { runCli, writeRuntime, fakeEngineTest as it } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { takenPort } from '../../support/ports.ts';

/** Free ports, so that other programs on this machine have no influence. */
const FREE = ['--http-port', '0', '--https-port', '0', '--dns-port', '0', '--control-port', '0'];

const check = async (dataDir: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runCli(['doctor', '--json', '--data-dir', dataDir, ...args]);
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) as DoctorReport };
};

const find = ({ checks }: DoctorReport, id: string) => checks.find((check) => check.id === id);

describe('vivarium doctor, with a running Vivarium', () => {
  const REPORT: DoctorReport = {
    checkedAt: '2026-11-20T09:00:00.000Z',
    elapsedMs: 12,
    running: true,
    counts: { failed: 1, warning: 0, ok: 1, skipped: 0 },
    checks: [
      {
        id: 'root.key',
        area: 'root',
        title: 'Root private key',
        status: 'failed',
        evidence: ['/d/ca/root-key.pem has mode 0644\u001b[2J; it should have 0600.'],
        fix: 'Restrict it to its owner.',
        commands: 'chmod 600 /d/ca/root-key.pem',
      },
      {
        id: 'clock.app',
        area: 'clock',
        title: 'The simulated clock',
        status: 'ok',
        evidence: ['It shows the real time.'],
      },
    ],
  };

  it('shows the report, failures last, and exits 1 for a failure', async ({ fake, here }) => {
    fake.stub('doctor', 'run', () => REPORT);
    const { code, stdout } = await here(['doctor']);
    expect([code, stdout]).toEqual([
      1,
      `ok  The simulated clock  It shows the real time.

failed  Root private key
    /d/ca/root-key.pem has mode 0644\\u{1b}[2J; it should have 0600.
  → Restrict it to its owner.
        chmod 600 /d/ca/root-key.pem

One check failed; 1 in order.
`,
    ]);
    expect(fake.calls).toEqual([{ procedure: 'doctor.run', input: {} }]);
  });

  it('prints JSON for options in any position, and exits 0 without a failure', async ({ fake, dataDir }) => {
    const well = { ...REPORT, counts: { ...REPORT.counts, failed: 0 }, checks: REPORT.checks.slice(1) };
    fake.stub('doctor', 'run', () => well);
    for (const args of [
      ['--json', 'doctor', '--data-dir', dataDir],
      ['--data-dir', dataDir, 'doctor', '--json'],
      ['doctor', 'run', '--json', '--data-dir', dataDir],
    ]) {
      const { code, stdout } = await runHere(args);
      expect([args, code, JSON.parse(stdout)]).toEqual([args, 0, well]);
    }
  });

  it('names commands as its caller types them, however the engine was started', async () => {
    const engine = await startEngine();
    await engine.call('clock.advance', { by: 'PT1H' });
    const { dataDir } = engine;
    const [linked, byNpx] = await Promise.all(
      ['vivarium', 'npx vivarium'].map((command) =>
        runCli(['doctor', '--data-dir', dataDir], { env: { VIVARIUM_COMMAND: command } }),
      ),
    );
    expect(linked?.stdout).toContain(`\n        vivarium clock reset --data-dir ${dataDir}\n`);
    expect(byNpx?.stdout).toContain(`\n        npx vivarium clock reset --data-dir ${dataDir}\n`);
    const plan = await runCli(['machine', 'plan', 'www.happypaws.test', '--data-dir', dataDir]);
    expect(plan.stdout).toMatch(/To do it: vivarium machine apply www\.happypaws\.test/);
    expect(plan.stdout).not.toContain('npm');
    const drill = await runCli(['drill', 'start', 'record-is-there', '--data-dir', dataDir]);
    expect(drill.stdout).toMatch(/\n {2}vivarium dns query .* --data-dir \/.*\n/);
    expect(drill.stdout).not.toContain('npm');
  });

  it('queries a real engine', async () => {
    const engine = await startEngine({ empty: true });
    const { code, report } = await check(engine.dataDir);
    expect([code, report.running, find(report, 'listeners.http')?.status]).toEqual([0, true, 'ok']);
  });

  it('checks by itself if the engine gives no report', async ({ dataDir }) => {
    const folder = claimDataFolder(dataDir);
    onTestFinished(() => folder.release());
    const { code, report } = await check(dataDir, ...FREE);
    expect([code, report.running]).toEqual([1, false]);
    expect(find(report, 'engine.process')).toMatchObject({
      status: 'failed',
      evidence: [expect.stringContaining('gives no report: Vivarium failed;'), expect.stringContaining('lock')],
    });
    expect(find(report, 'listeners.control')?.status).toBe('skipped');
  });
});

describe('vivarium doctor, without a running Vivarium', () => {
  it('reports that none runs, and does not fail', async () => {
    const { code, report } = await check(join(temporaryFolder(), 'none'), ...FREE);
    expect(code).toBe(0);
    expect(find(report, 'engine.process')).toMatchObject({ status: 'skipped' });
    expect(find(report, 'data.database')?.status).toBe('skipped');
  });

  it('names the process that holds a required port', async () => {
    const port = await takenPort();
    const { code, report } = await check(temporaryFolder(), ...FREE, '--http-port', String(port));
    expect(code).toBe(1);
    const { status, evidence = [], fix } = find(report, 'listeners.http') ?? {};
    expect([status, fix]).toEqual(['failed', expect.stringContaining('--http-port')]);
    expect(evidence.join()).toMatch(
      process.platform === 'linux'
        ? new RegExp(`^127\\.0\\.0\\.1:${port} is held by .+ \\(pid ${process.pid}\\)\\.$`)
        : /is held by/,
    );
  });

  it('reads the files of a stopped engine, and leaves them unchanged', async () => {
    const engine = await startEngine();
    await engine.stop();
    const before = readdirSync(engine.dataDir, { recursive: true }).sort();
    const { code, report } = await check(engine.dataDir, ...FREE);
    expect(code).toBe(0);
    for (const id of ['data.database', 'data.folder', 'root.certificate', 'root.key']) {
      expect([id, find(report, id)?.status]).toEqual([id, 'ok']);
    }
    expect(find(report, 'data.database')?.evidence[0]).toContain('every page was read');
    expect(readdirSync(engine.dataDir, { recursive: true }).sort()).toEqual(before);
  });

  it('finds damage, and shows the commands that restore the backup', async () => {
    const engine = await startEngine();
    await engine.stop();
    const file = join(engine.dataDir, 'vivarium.db');
    const octets = readFileSync(file);
    mkdirSync(join(engine.dataDir, 'backups'), { recursive: true });
    const backup = join(engine.dataDir, 'backups/vivarium-v6-20261120T090000000Z.db');
    // Like a backup: without a write-ahead log.
    writeFileSync(backup, Buffer.from(octets).fill(1, 18, 20));
    writeFileSync(file, octets.fill(0xff, 8_192, 40_960));
    const { code, report } = await check(engine.dataDir, ...FREE);
    const found = find(report, 'data.database');
    expect([code, found?.status]).toEqual([1, 'failed']);
    expect(found?.commands).toContain(`cp ${backup} ${file}`);
  });

  it('reports a runtime file left behind by a crash', async () => {
    const dataDir = temporaryFolder();
    // No process has a number above this system's maximum.
    writeRuntime(dataDir, { url: 'http://127.0.0.1:9', pid: 2 ** 30 });
    const { report } = await check(dataDir, ...FREE);
    expect(find(report, 'engine.process')).toMatchObject({
      status: 'warning',
      evidence: [expect.stringContaining('was left behind')],
    });
  });
});
