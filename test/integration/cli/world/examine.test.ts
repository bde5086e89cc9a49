import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive } from '../../../../main/base/system/runtime-file.ts';
import type { Examination } from '../../../../main/contract/examine.ts';
import { runHere } from '../../../support/cli-io.ts';
import { startEngine } from '../../../support/engine.ts';
import { examine, sample, verdictsOf } from '../../../support/examine-clients/examine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { finished, startCli } from '../../../support/rpc/rpc-cli.ts';

describe('vivarium examine', () => {
  test('a right client survives, or fails as it should, in text and files', async () => {
    const words = ['--only', '503-once,gzip-cut', '--jobs', '2', '--json', '--markdown', 'm.md', '--junit', 'j.xml'];
    const { stdout, code, folder } = await examine(words);
    const { calm, rows } = JSON.parse(stdout) as Examination;
    expect([calm.tests, calm.left, rows.length, code]).toEqual([4, [], 2, 0]);
    const others = rows.filter(({ verdict }) => !['survived', 'failed_as_it_should'].includes(verdict));
    expect(others).toEqual([]);
    expect(readFileSync(join(folder, 'm.md'), 'utf8')).toMatch(/^Repeat it with: ` vivarium examine --table quick/);
    expect(readFileSync(join(folder, 'j.xml'), 'utf8')).toContain('tests="10" failures="0"');
  });

  test('a repeated POST is wrong, and kept in the data folder with its requests, for an engine that runs there', async () => {
    const engine = await startEngine({ empty: true });
    const changes: string[] = [];
    const watching = new AbortController();
    const watched = (async () => {
      const events = engine.app.services.events.watch(undefined, { signal: watching.signal });
      for await (const { type } of events) changes.push(type);
    })();
    expect(await engine.call('examinations.list')).toEqual([]);
    const words = ['--only', '500-after-commit', '--data-dir', engine.dataDir];
    const { code, stderr, stdout } = await examine(words, { REPEATS_POST: '1' });
    expect(stdout).toMatch(
      /^Repeat it with: vivarium examine --table quick --seed 1 --data-dir \S+ --only 500-after-commit -- /,
    );
    expect(stdout).toContain('The target carried out 2 equal POST /v1/pets; without the fault it was 1.');
    expect(stdout).toMatch(/counts pets: .*42 !== 41/);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the window has the requests of each row: Break it, Examine'),
    ]);
    watching.abort();
    await watched;
    expect(changes).toContain('examinations.changed');
    const [info] = await engine.call('examinations.list');
    expect(Object.keys(info ?? {}).toSorted()).toEqual(['at', 'id', 'seed', 'subject', 'table']);
    const { id } = info ?? { id: '' };
    const kept = await engine.call('examinations.get', { id });
    expect(kept).toMatchObject({
      total: 1,
      rows: [{ row: '500-after-commit', verdict: 'wrong', unexpected: true }],
      calm: { tests: 4 },
    });
    expect([kept.repeat, kept.rows[0]?.repeat].every((command) => command?.startsWith('cd '))).toBe(true);
    expect(kept.repeat).toContain(` --data-dir ${engine.dataDir} --only 500-after-commit -- `);
    const { name, har } = await engine.call('examinations.requests', { id, run: 1 });
    const { entries } = (JSON.parse(har ?? '') as { log: { entries: object[] } }).log;
    const struck = entries.filter((entry) => '_fault' in entry);
    expect([name, entries.length, struck]).toMatchObject([
      '500-after-commit.har',
      5,
      [{ request: { method: 'POST' }, response: { status: 500 }, _fault: { entry: 'api.error-after-commit' } }],
    ]);
    const calm = await engine.call('examinations.requests', { id, run: 0 });
    expect([calm['name'], calm['har']?.includes('_fault')]).toEqual(['without-faults.har', false]);
    await expect(engine.call('examinations.requests', { id, run: 2 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(engine.call('examinations.get', { id: '../../ca' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('a table of the file has the verdicts that it expects, and what it cannot meet is no failure', async () => {
    const { stdout, code } = await examine(['--table', 'own']);
    expect(stdout).toMatch(/✓ api\.unavailable +survived +POST \/v1\/pets, the 1st/);
    expect(stdout).toMatch(/✗ sunset +failed as it should.*\n +expected: survived\n/);
    expect(stdout).toMatch(/, 1 not met, 1 not as expected\n$/);
    expect(stdout).toMatch(/- elsewhere +not met/);
    expect(code).toBe(1);
  });

  test('a row that its entry refuses is refused before the tests run, by a check of the file as well', async () => {
    const folder = temporaryFolder();
    const row =
      '{ break: http.status, parameters: { stauts: 1 } }, { break: http.latency, on: { hostname: localhost } }';
    writeFileSync(join(folder, 'vivarium.yaml'), `vivarium: 1\nprojects: { shop: {} }\nexamine: { t: [ ${row} ] }\n`);
    const refused = 'vivarium.yaml:3:61: examine.t[0].parameters.stauts is not a parameter of http.status; it has';
    const { code, stderr } = await examine(['--table', 't'], {}, ['--', 'true'], folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining(refused)]);
    expect(stderr).not.toContain('without faults');
    const check = await runHere(['up', '--check', 'vivarium.yaml'], { cwd: folder });
    expect(check).toMatchObject({ code: 1, stdout: expect.stringContaining(refused) });
    expect(check.stdout).toContain('examine.t[1].on.hostname "localhost" is Vivarium’s own, which is never broken');
  });

  test('the address and the key are of one project, the first that has a key', async () => {
    const folder = temporaryFolder();
    const worldOf = (projects: string) =>
      writeFileSync(join(folder, 'vivarium.yaml'), `vivarium: 1\nprojects: ${projects}\n`);
    const tell = (program: string) =>
      examine(['--only', '503-once'], {}, ['--', process.execPath, '-e', program], folder);
    worldOf('{ bare: {}, keyed: { keys: [ci] } }');
    const ask = `fetch(process.env.VIVARIUM_URL + '/pets', { headers: { authorization: 'Bearer ' + process.env.VIVARIUM_KEY } })
      .then(({ status, url }) => { console.log(url, status); process.exitCode = 1; })`;
    expect((await tell(ask)).stderr).toMatch(/https:\/\/keyed\.vivarium\.localhost:\d+\/v1\/pets 200/);
    const silent = await tell('0');
    expect([silent.code, silent.stdout]).toEqual([
      0,
      expect.stringContaining('\nNo row was met, so nothing is known: '),
    ]);
    worldOf('{}');
    expect(await tell('0')).toMatchObject({ code: 2, stderr: expect.stringContaining('vivarium.yaml has no project') });
  });

  test('without a format the exit code counts, and nothing is examined if no test passes', async () => {
    const program = `fetch(process.env.VIVARIUM_URL + '/pets').then(({ status }) => process.exit(status === 401 ? 0 : 1), (error) => {
      console.error(error.message);
      process.exit(1);
    });`;
    const command = ['--', process.execPath, '-e', program];
    const { stdout, code } = await examine(['--only', '503-once', '--json'], {}, command);
    expect([verdictsOf(stdout), code]).toEqual([[['503-once', 'failed_as_it_should', 'failed_as_it_should']], 0]);
    const failing = await examine([], {}, ['--', process.execPath, '-e', 'console.log("not yet"); process.exit(1)']);
    expect([failing.code, failing.stderr]).toEqual([
      2,
      expect.stringContaining('No test passes twice without faults. not yet'),
    ]);
  });

  test('the rows to examine are of the table', async () => {
    const { code, stderr } = await examine(['--only', 'htp'], {}, ['--', 'true']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('has no row and no family "htp". Did you mean "http"?'),
    ]);
  });

  test.each([
    [[], 'Name the command that runs your tests'],
    [['npm', 'test'], 'The command belongs after two dashes: -- npm'],
    [['--table', 'quik', '--', 'true'], 'There is no table "quik". Did you mean "quick"?'],
    [['--seed', '-1', '--', 'true'], '--seed must be a whole number from 0 to 4294967295, not "-1".'],
    [['--file', 'none.yaml', '--', 'true'], 'There is no file none.yaml.'],
  ])('%j: a sentence, and exit code 2', async (words, message) => {
    const { code, stderr } = await runHere(['examine', ...words], { cwd: sample() });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('an interruption gives what was found before it', async () => {
    const folder = sample();
    const words = ['examine', '--only', '503-once,black-hole', '--markdown', 'm.md', '--junit', 'j.xml'];
    const child = startCli(
      [...words, '--', process.execPath, '--test'],
      { TMPDIR: temporaryFolder(), VIVARIUM_DATA_DIR: folder },
      folder,
    );
    const ended = finished(child);
    child.stderr?.on('data', (text: string) => void (text.includes('503-once: survived') && child.kill('SIGINT')));
    expect(await ended).toMatchObject({ code: 2, stdout: expect.stringContaining('1 survived, 0 failed') });
    const markdown = readFileSync(join(folder, 'm.md'), 'utf8');
    expect(markdown).toContain('| ✓ | 503-once |');
    expect(markdown).toContain('\nInterrupted after 1 of 2 rows\n\n| ');
    const junit = readFileSync(join(folder, 'j.xml'), 'utf8');
    expect(junit).toMatch(/tests="6" failures="1">[^]*<failure message="Interrupted after 1 of 2 rows">/);
  });

  test('an interruption ends the tests and their children, and leaves nothing', async () => {
    const folder = sample();
    const program = `
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)']);
      require('node:fs').writeFileSync('pids', process.pid + ' ' + child.pid);
      process.on('SIGTERM', () => 0);
      console.log('running');`;
    const temporary = temporaryFolder();
    const words = ['examine', '--', process.execPath, '-e', program];
    const child = startCli(words, { TMPDIR: temporary }, folder);
    const ended = finished(child);
    const pidsIn = () => (readdirSync(folder).includes('pids') ? readFileSync(join(folder, 'pids'), 'utf8') : '');
    await expect.poll(pidsIn).toMatch(/^\d+ \d+$/);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('The examination was interrupted.') });
    const pids = pidsIn().split(' ').map(Number);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
