import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import type { RuntimeFile } from '../../../main/base/config.ts';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execute as run } from '../../support/command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What a runner does with the action's single step, with the file of other roots that it has set. */
async function runAction(before: string) {
  const [, script = ''] = readFileSync(join(ROOT, 'action.yml'), 'utf8').split('      run: |\n');
  const folder = temporaryFolder();
  const files = ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH'].map((name) => [name, join(folder, name)] as const);
  for (const [, file] of files) writeFileSync(file, '');
  const dataDir = join(folder, 'vivarium', 'data');
  mkdirSync(join(folder, 'work'));
  const inStep = {
    cwd: join(folder, 'work'),
    env: {
      ...process.env,
      ...(Object.fromEntries(files) as Record<string, string>),
      NODE_EXTRA_CA_CERTS: before,
      GITHUB_ACTION_PATH: ROOT,
      RUNNER_TEMP: folder,
      VIVARIUM_DATA_DIR: dataDir,
      ARGUMENTS: '--any-ports --empty',
      TIMEOUT: '30s',
    },
  };
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const runStep = (text: string, path = '') =>
    run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', text], {
      ...inStep,
      env: { ...inStep.env, PATH: `${path}${process.env.PATH ?? ''}` },
    });
  track(async () => void (await runStep('"$RUNNER_TEMP/vivarium/bin/vivarium" stop').catch(() => undefined)));
  await runStep(script);
  return { dataDir, read, runStep };
}

it('the action starts a Vivarium and gives the later steps its address, root and command', async () => {
  const { dataDir, read, runStep } = await runAction('');
  const { http, https, dns, control, caFile } = JSON.parse(
    readFileSync(join(dataDir, 'runtime.json'), 'utf8'),
  ) as RuntimeFile;
  const outputs = { 'http-port': http.port, 'https-port': https.port, 'dns-port': dns.port };
  const lines = Object.entries({ ...outputs, 'control-url': control.url, 'ca-file': caFile });
  expect(read('GITHUB_OUTPUT')).toBe(lines.map(([name, value]) => `${name}=${value}\n`).join(''));
  expect(read('GITHUB_ENV')).toBe(`VIVARIUM_DATA_DIR=${dataDir}\nNODE_EXTRA_CA_CERTS=${caFile}\n`);
  const { stdout } = await runStep('vivarium project list --json', read('GITHUB_PATH').trim() + delimiter);
  expect(JSON.parse(stdout)).toEqual([]);
});

it('the action adds its root to the file that a company’s runner has set', async () => {
  const certificates = createTestCertificates(['company.test']);
  const company = join(temporaryFolder(), 'company.pem');
  writeFileSync(company, `# Our company\n${certificates.trusted}`);
  const { dataDir, read } = await runAction(company);
  const [, file = ''] = /^NODE_EXTRA_CA_CERTS=(.*)$/m.exec(read('GITHUB_ENV')) ?? [];
  const { caFile } = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  const roots = [readFileSync(caFile, 'utf8'), certificates.trusted].map((text) => `${text.trim()}\n`);
  expect(readFileSync(file, 'utf8')).toBe(roots.join(''));
});
