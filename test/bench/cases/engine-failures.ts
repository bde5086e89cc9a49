import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import type { RuntimeFile } from '../../../main/base/config.ts';
import { type Figure, temporaryFolder } from '../harness.ts';

const FAILURES = 50;
const WRITERS = 4;
const WANTED_MS = 2_000;
/** A failure that lasts longer ends the benchmark. */
const WAIT_MS_MAX = 30_000;
const DISK_MEGABYTES = 48;

/** Fails the app's engine in three ways while clients write, on a separate small disk (Linux, `unshare`). */
export function engineFailures(): Promise<Figure[]> {
  const folder = temporaryFolder();
  const mounted = `mount -t tmpfs -o size=${DISK_MEGABYTES}m tmpfs "$0" && exec "$@"`;
  const args = ['-rm', 'sh', '-c', mounted, folder, process.execPath, import.meta.filename, folder];
  const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
  try {
    return Promise.resolve(JSON.parse(stdout) as Figure[]);
  } catch {
    throw new Error(`The failures could not be measured: ${stderr}${stdout}`);
  }
}

async function measure(folder: string): Promise<Figure[]> {
  const dataDir = join(folder, 'data');
  const filler = join(folder, 'filler');
  // The tests' own context; it needs nothing else here.
  const [{ STAND_IN }, { FREE_PORTS }] = await Promise.all([
    import('../../support/desktop.ts'),
    import('../../support/program.ts'),
  ]);
  const app = STAND_IN.start(['--', '--data-dir', dataDir, ...FREE_PORTS], {});
  const runtime = (): RuntimeFile => JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  await until(() => runtime().pid > 0);
  const { control, http } = runtime();
  const call = async <Output>(procedure: string, input: object = {}): Promise<Output> => {
    const response = await fetch(`${control.url}/api/${procedure.replace('.', '/')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${control.token}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Output;
  };
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const { id: projectId, slug } = await call<{ id: string; slug: string }>('projects.create', {
    name: 'Failing',
    plan: 'enterprise',
    limits,
  });
  const { secret } = await call<{ secret: string }>('keys.create', { projectId });
  const headers = {
    host: `${slug}.vivarium.localhost:${http.port}`,
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
  };

  const acknowledged = new Set<number>();
  let refusal = '';
  let isDone = false;
  const agent = new Agent({ keepAlive: true });
  const post = () =>
    new Promise<void>((resolve) => {
      const sent = request(
        { host: '127.0.0.1', port: http.port, method: 'POST', path: '/v1/pets', headers, agent },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.once('error', () => resolve());
          response.once('end', () => {
            if (response.statusCode === 201) acknowledged.add((JSON.parse(text) as { id: number }).id);
            else refusal = text;
            setTimeout(resolve, 5);
          });
        },
      );
      sent.once('error', () => setTimeout(resolve, 5));
      sent.end('{"name": "Rex", "categoryId": 1}');
    });
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!isDone) await post();
  });
  let asked = 0;
  const answering = (async () => {
    for (;;) {
      const { press } = await app.nextDialog();
      asked++;
      press('Start again');
    }
  })();
  answering.catch(() => undefined);

  const ways = {
    'an error that no code caught': () =>
      app.evaluate(() => void setImmediate(() => Promise.reject(new Error('it was made to fail')))),
    'a lost database': () => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, `vivarium.db${suffix}`), { force: true });
    },
    'a full disk': async () => {
      refusal = '';
      fill(filler);
      await until(() => /disk|full|stored/i.test(refusal) || refusal !== '');
      rmSync(filler);
    },
  };
  const isShown = () => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isVisible() === true);
  // A page that is not drawn yet would count as a lost window.
  while (!(await isShown())) await new Promise((resolve) => setTimeout(resolve, 20));
  const took: number[] = [];
  let alive = 0;
  for (let number = 0; number < FAILURES; number++) {
    const way = Object.values(ways)[number % 3];
    const startsBefore = starts(dataDir);
    const begunMs = performance.now();
    await way?.();
    if (number % 3 < 2) await until(() => starts(dataDir) > startsBefore);
    const counted = acknowledged.size;
    await until(() => acknowledged.size > counted);
    took.push(performance.now() - begunMs);
    if (await isShown()) alive++;
  }
  isDone = true;
  await Promise.all(writers);
  const kept = new Set<number>();
  for (let after: string | undefined = '0'; after !== undefined;) {
    const page: { items: { id: string }[]; next?: string } = await call('pets.list', {
      projectId,
      limit: 1_000,
      after,
    });
    for (const { id } of page.items) kept.add(Number(id));
    after = page.next;
  }
  const lost = [...acknowledged].filter((id) => !kept.has(id)).length;
  agent.destroy();
  app.signal('SIGTERM');
  await app.ended;
  const longest = Math.max(...took);
  return [
    {
      what: `the engine failed ${FAILURES} times under load, a third each of ${Object.keys(ways).join(', ')}`,
      measured: `window alive ${alive} of ${FAILURES}; serving again within ${longest.toFixed(0)} ms; ${lost} pets lost`,
      wanted: `${FAILURES} of ${FAILURES}, ≤ ${WANTED_MS} ms, none`,
      met: alive === FAILURES && longest <= WANTED_MS && lost === 0,
      detail: `of ${acknowledged.size} pets acknowledged; ${asked} times after a question; median ${took.toSorted((a, b) => a - b)[FAILURES >> 1]?.toFixed(0)} ms`,
    },
  ];
}

/** How often an engine of this app has begun to serve. */
const starts = (dataDir: string): number =>
  readFileSync(join(dataDir, 'logs', 'vivarium.log'), 'utf8').split('Vivarium serves').length;

function fill(file: string): void {
  for (let bytes = 1_000_000; bytes >= 1_000; bytes /= 10) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      // Then write smaller pieces.
    }
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const untilMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    try {
      if (isSo()) return;
    } catch {
      // The file does not exist yet.
    }
    if (performance.now() > untilMs) throw new Error(`It did not happen within ${WAIT_MS_MAX} ms: ${String(isSo)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

if (process.argv[1] === import.meta.filename) {
  const folder = process.argv[2] ?? '';
  process.stdout.write(JSON.stringify(await measure(folder)));
  process.exit(0);
}
