import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { listen } from '../../support/ports.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import { finished, runCli, startCli, writeRuntime, fakeEngineTest as it } from '../../support/rpc/rpc-cli.ts';
import { readUntil } from '../../support/proxy/proxy-raw.ts';
import { SAMPLE_PET, SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';
import { countingStream } from '../../support/rpc/rpc-streams.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('vivarium call', () => {
  it('prints only the JSON result, and exits 0', async ({ fake, cli }) => {
    fake.stub('projects', 'get', ({ projectId }) => ({ ...SAMPLE_PROJECT, id: projectId }));
    const { code, stdout, stderr } = await cli(['call', 'projects.get', '{"projectId":"prj_2"}']);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ ...SAMPLE_PROJECT, id: 'prj_2' });
    expect(stdout.endsWith('\n')).toBe(true);
  });

  it('needs no input if there is none, and takes the folder from the environment', async ({ fake, dataDir }) => {
    fake.stub('projects', 'list', () => []);
    expect(await runCli(['call', 'projects.list'], { env: { VIVARIUM_DATA_DIR: dataDir } })).toEqual({
      code: 0,
      stdout: '[]\n',
      stderr: '',
    });
  });

  it('reads the input from standard input', async ({ fake, cli }) => {
    fake.stub('pets', 'import', ({ text }) => ({ created: text.length, rejected: [], rejectedTotal: 0 }));
    const text = 'ä'.repeat(300_000);
    const { stdout } = await cli(['call', 'pets.import', '-'], {
      stdin: JSON.stringify({ projectId: 'p', format: 'csv', text }),
    });
    expect(JSON.parse(stdout)).toMatchObject({ created: 300_000 });
  });

  it('accepts the data folder before the command too', async ({ fake, dataDir }) => {
    fake.stub('projects', 'list', () => []);
    expect((await runCli(['--data-dir', dataDir, 'call', 'projects.list'])).stdout).toBe('[]\n');
  });

  it('passes numbers on as written', async ({ fake, cli }) => {
    fake.stub('pets', 'remove', (input) => ({ ...SAMPLE_PET, id: input.id }));
    const exact = await cli(['call', 'pets.remove', '{"projectId":"p","id":"9223372036854775807"}']);
    expect(JSON.parse(exact.stdout)).toMatchObject({ id: '9223372036854775807' });
    const rounded = await cli(['call', 'pets.remove', '{"projectId":"p","id":9007199254740993}']);
    expect([rounded.code, JSON.parse(rounded.stderr)]).toMatchObject([1, { code: 'invalid_request' }]);
  });

  const REQUIRED = [{ path: 'projectId', message: 'is required: a string' }];
  it.for<[words: string, code: string, message: unknown, issues?: object[]]>([
    ['call projects.get {"projectId":"p"}', 'not_found', 'There is no such project.'],
    ['call projects.get {}', 'invalid_request', 'projectId is required: a string.', REQUIRED],
    ['call projects.get {"projectId":', 'invalid_request', expect.stringMatching(/^The body is not JSON: /)],
    ['call project.get {}', 'not_found', expect.stringContaining('Did you mean "projects.get"?')],
    ['call projects', 'invalid_request', '"projects" is not a procedure name, such as "pets.list".'],
    ['call ../x.y', 'invalid_request', expect.stringContaining('is not a procedure name')],
    ['call', 'invalid_request', expect.stringMatching(/^Name a procedure/)],
    ['call projects.get { }', 'invalid_request', expect.stringContaining('put the JSON input in quotes')],
    ['call projects.get --jsn', 'invalid_request', expect.stringContaining('There is no option --jsn')],
  ])('%s fails with JSON on standard error and exit code 1', async ([words, error, message, issues], { fake, cli }) => {
    fake.stub('projects', 'get', () => {
      throw new VivariumError('not_found', 'There is no such project.');
    });
    const { code, stdout, stderr } = await cli(words.split(' '));
    expect([code, stdout]).toEqual([1, '']);
    expect(JSON.parse(stderr)).toEqual({ code: error, message, ...(issues && { issues }) });
  });

  it('has its own help', async () => {
    expect((await runCli(['call', '--help'])).stdout).toContain("vivarium call projects.create '{");
  });
});

describe('when no Vivarium is running, vivarium call exits 2', () => {
  const notRunning = async (dataDir: string) => {
    const { code, stdout, stderr } = await runCli(['call', 'projects.list', '--data-dir', dataDir]);
    expect([code, stdout]).toEqual([2, '']);
    return JSON.parse(stderr) as { code: string; message: string };
  };

  it('and names the folder', async () => {
    const dataDir = temporaryFolder();
    expect(await notRunning(dataDir)).toEqual({
      code: 'unavailable',
      message: `No Vivarium is running on ${dataDir}. Start one with "vivarium start -d --data-dir ${dataDir}".`,
    });
  });

  it('even if one ended without removing its file', async () => {
    const child = startCli(['--version']);
    await finished(child);
    const dataDir = temporaryFolder();
    writeRuntime(dataDir, { url: 'http://127.0.0.1:9', pid: child.pid ?? 0 });
    expect((await notRunning(dataDir)).message).toContain('(the last one there did not stop properly)');
  });

  it('even if another process has its process number now', async () => {
    // A free port could be taken by a concurrent test; nothing listens on port 1.
    const dataDir = temporaryFolder();
    writeRuntime(dataDir, { url: 'http://127.0.0.1:1' });
    expect((await notRunning(dataDir)).message).toContain('no answer at http://127.0.0.1:1');
  });
});

describe('vivarium call, when the server that answers is', () => {
  it('a Vivarium with another token, reports unauthorized', async ({ url, dataDir, cli }) => {
    writeRuntime(dataDir, { url, token: 'old' });
    const { code, stderr } = await cli(['call', 'projects.list']);
    expect([code, JSON.parse(stderr)]).toMatchObject([1, { code: 'unauthorized' }]);
  });

  it.each([
    [
      'not a Vivarium',
      (response: ServerResponse) => response.writeHead(502).end('<h1>Bad gateway</h1>'),
      /Not a Vivarium server/,
    ],
    ['gone before its answer', (response: ServerResponse) => response.destroy(), /Lost the connection to Vivarium/],
    [
      'gone during its answer',
      (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Length': 9 }).write('[', () => response.destroy()),
      /Lost the connection to Vivarium/,
    ],
    [
      'gone during its stream',
      (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('event: message\ndata: 1\n\n'),
      /Lost the connection to Vivarium/,
    ],
  ])('%s, reports it', async (_what, answer, message) => {
    const { port } = await listen(createServer((_request, response) => void answer(response)));
    const dataDir = temporaryFolder();
    writeRuntime(dataDir, { url: `http://127.0.0.1:${port}` });
    const { code, stderr } = await runCli(['call', 'events.watch', '--data-dir', dataDir]);
    expect([code, JSON.parse(stderr)]).toMatchObject([
      1,
      { code: 'unavailable', message: expect.stringMatching(message) },
    ]);
  });
});

it('reports an unknown outcome for a lost change, but not for a lost query', async () => {
  const { port } = await listen(createServer((_request, response) => void response.destroy()));
  const dataDir = temporaryFolder();
  writeRuntime(dataDir, { url: `http://127.0.0.1:${port}` });
  const change = await runCli(['call', 'projects.create', '{"name":"Shop"}', '--data-dir', dataDir]);
  expect(change.stderr).toContain('It is unknown whether the call was carried out.');
  const question = await runCli(['call', 'projects.list', '--data-dir', dataDir]);
  expect(question.stderr).not.toContain('not known');
});

describe('vivarium call of a stream', () => {
  it('prints one JSON value a line, and succeeds when it is interrupted', async ({ fake, start }) => {
    const stream = countingStream({ pauseAfter: 3 });
    fake.stub('events', 'watch', stream.open);
    const child = start(['call', 'events.watch']);
    const result = finished(child);
    await readUntil(child.stdout, /"3"/);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await result;
    expect([code, stderr]).toEqual([0, '']);
    const values = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { projectId: string });
    expect(values.map(({ projectId }) => projectId)).toEqual(['1', '2', '3']);
    await stream.ended;
  });

  it('ends when the stream does', async ({ fake, server, start }) => {
    fake.stub('events', 'watch', countingStream({ pauseAfter: 1 }).open);
    const child = start(['call', 'events.watch']);
    const result = finished(child);
    await once(child.stdout, 'data');
    await server.stop(2_000);
    expect((await result).code).toBe(0);
  });

  it('reports its error', async ({ fake, cli }) => {
    fake.stub('events', 'watch', async function* () {
      yield { type: 'ready', at: '2026-11-20T09:00:00.000Z' };
      throw new VivariumError('unavailable', 'Not now.');
    });
    const { code, stdout, stderr } = await cli(['call', 'events.watch']);
    expect([code, stdout.split('\n')[0], JSON.parse(stderr)]).toEqual([
      1,
      '{"type":"ready","at":"2026-11-20T09:00:00.000Z"}',
      { code: 'unavailable', message: 'Not now.' },
    ]);
  });
});
