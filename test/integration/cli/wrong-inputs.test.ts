import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runHere } from '../../support/cli-io.ts';
import { startEngine } from '../../support/engine.ts';
import { runCli } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** What newcomers typed, and what each says: the cause, and a next step that can be followed. */
const TYPED: readonly (readonly [line: string, code: number, says: RegExp])[] = [
  ['serve --port 99999', 1, /^vivarium: --http-port must be a port .*\n$/],
  ['run npm run dev', 1, /: vivarium run --data-dir \S+ -- npm run dev\n$/],
  ['run app.acme.test npm run dev', 1, /: vivarium run app\.acme\.test --data-dir \S+ -- npm run dev\n$/],
  ['run silent -- true', 0, /^vivarium: The command has ended before it opened a port/m],
  ['rehearse none.yaml --json', 2, /^\{"code":"invalid_request","message":"There is no file none\.yaml\."\}\n$/],
  ['dns query www.happypaws.test CNAME', 0, /^ +value +cname\.vivarium\.localhost$/m],
  ['list projects', 0, /^name +slug /],
  ['projects create one --target localhost:3000/', 0, /^target\.url +http:\/\/localhost:3000\/$/m],
  ['projects create two --target 99999', 1, /--target must have a port from 1 to 65535, not 99999\./],
  ['projects create two --target there', 1, /a host and port such as "localhost:5173"/],
  ['uninstall --dry-run', 0, /Vivarium is running on it\. To stop it:\n {4}vivarium stop/],
  ['domains attach happy-paws foo.com --local', 1, /To remove it:\nvivarium domain remove foo\.com/],
  ['break domain.claimed-elsewhere', 1, /: vivarium break domain\.claimed-elsewhere HOSTNAME/],
  ['break dns.nxdomain', 1, /--everything/],
  ['clock advance 1h', 0, /offset/],
  ['export', 0, /Left out: The clock, which has been moved and is running: a file can only contain a frozen clock\./],
  ['run --help', 0, /What was not there before is removed when the\n +command ends\./],
  ['completion powershell', 0, /^Register-ArgumentCompleter /],
  ['init shop.acme.test --yes', 0, /The script needs the command "vivarium" on every machine/],
  ['pets create demo Rex', 1, /demo is a project; CATEGORY-ID is missing: vivarium pet create demo Rex 3/],
  ['pets create demo', 1, /^vivarium: /],
  ['settings update --rate-limit-fields true', 1, /takes no value/],
  ['ca extend api.vercel.com', 1, /--yes/],
  ['check free.yaml', 1, /^free\.yaml:4:\d+: .* Write "plan: pro" in projects\.a\.\n$/],
  ['up free.yaml', 1, /Write "plan: pro" in projects\.a\.\n$/],
  ['doctor --areas clocks', 1, /^vivarium: --areas must be one of engine, listeners, /],
  ['doctor --areas clock --json', 0, /^\{"checkedAt":[^{]*"counts":[^[]*"checks":\[\{"id":"clock/],
  ['traffic', 0, /^No requests match\./],
  ['doctor now', 1, /^vivarium: doctor has no procedure "now"\./],
  ['doctor --jsno', 1, /^vivarium: There is no option --jsno\. Did you mean "--json"\?\n$/],
  ['doctor --http-port x', 1, /^vivarium: --http-port must be a port .*\n$/],
  ['doctor --help', 0, /vivarium doctor --json/],
  ['help doctor', 0, /vivarium doctor --json/],
  ['serve --http-prot 1', 1, /^vivarium: There is no option --http-prot\. Did you mean "--http-port".*\n$/],
  ['serve now', 1, /^vivarium: start takes options only, not "now"\.\n$/],
  ['start now', 1, /^vivarium: start takes options only, not "now"\.\n$/],
  ['start -d now', 1, /^vivarium: start takes options only, not "now"\.\n$/],
  ['reach open *.none.test', 1, /Nothing is served at \*\.none\.test\. Attach it/],
];

it(`answers ${TYPED.length} wrong inputs of newcomers with what helps`, async () => {
  vi.stubEnv('VIVARIUM_COMMAND', 'vivarium');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { dataDir } = await startEngine();
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'package.json'), '{"name":"shop","scripts":{"dev":"vite"}}');
  writeFileSync(join(cwd, 'free.yaml'), 'vivarium: 1\nprojects:\n  a:\n    domains: { a.acme.test: }\n');
  const answers: unknown[] = [];
  for (const [line, , says] of TYPED) {
    // Only what starts programs itself needs a program.
    const runTyped = /^(?:serve|run) /.test(line) ? runCli : runHere;
    const { code, stdout, stderr } = await runTyped(line.split(' '), { cwd, env: { VIVARIUM_DATA_DIR: dataDir } });
    const output = stdout + stderr;
    answers.push([line, code, says.test(output) ? says : output]);
  }
  expect(answers).toEqual(TYPED);
});
