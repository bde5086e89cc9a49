/**
 * `npm run frameworks -- [--in FOLDER] [NAME …]`: creates a fresh project of each framework, runs it with `vivarium
 * run`, opens its hostname in Chromium, changes a file, and waits for the page to follow. Needs the npm registry and
 * Chromium, and is therefore not part of `npm test`. Projects stay in FOLDER for the next run; a temporary folder is
 * removed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { type FrameworkProject, PROJECTS } from './projects.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'out', 'main', 'vivarium.js');
const CREATE_MS_MAX = 300_000;
const SERVE_MS_MAX = 90_000;
const PAGE_MS_MAX = 60_000;
const SEEN_MS_MAX = 3_000;

const run = promisify(execFile);
const vivarium = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, [PROGRAM, ...args, '--data-dir', dataDir])).stdout;

const { values, positionals } = parseArgs({ options: { in: { type: 'string' } }, allowPositionals: true });
const own = mkdtempSync(join(tmpdir(), 'vivarium-frameworks-'));
const folder = resolve(values.in ?? own);
const dataDir = join(own, 'data');

/** The project's folder; created if it does not exist. */
async function create({ name, files = {}, create: commands = [], install = [] }: FrameworkProject): Promise<string> {
  const project = join(folder, name);
  if (existsSync(project)) return project;
  mkdirSync(folder, { recursive: true });
  const shell = (line: string, cwd: string) =>
    run('/bin/sh', ['-c', line.replaceAll('NAME', name)], {
      cwd,
      timeout: CREATE_MS_MAX,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, CI: '1', NO_COLOR: '1' },
    });
  try {
    for (const line of commands) await shell(line, folder);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
    for (const line of install) await shell(line, project);
  } catch (error) {
    rmSync(project, { recursive: true, force: true });
    throw error;
  }
  return project;
}

/** Resolves with the address once it is served. */
function served(child: ChildProcess, output: { text: string }): Promise<string> {
  return new Promise((resolveUrl, reject) => {
    const look = (chunk: Buffer) => {
      output.text += chunk.toString();
      const url = /vivarium: (https:\/\/\S+)/.exec(output.text)?.[1];
      if (url !== undefined && output.text.includes('They lead to')) resolveUrl(url);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', (code) => reject(new Error(`it ended with ${code}`)));
    setTimeout(() => reject(new Error('it was not served in time')), SERVE_MS_MAX).unref();
  });
}

/** What was seen, in words. @throws Error at the first mismatch */
async function examine(project: FrameworkProject, browser: Browser): Promise<string> {
  const cwd = await create(project);
  const words = ['run', `${project.name}.acme.test`, '--data-dir', dataDir, '--', ...project.command];
  const begunMs = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const output = { text: '' };
  const seen: string[] = [];
  try {
    const url = await served(child, output);
    const port = /They lead to \S+:(\d+)/.exec(output.text)?.[1] ?? '?';
    seen.push(`port ${port} after ${((performance.now() - begunMs) / 1_000).toFixed(1)} s`);
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    page.setDefaultTimeout(PAGE_MS_MAX);
    const failures: string[] = [];
    page.on('response', (response) => {
      if (response.status() >= 400 && !response.url().endsWith('/favicon.ico')) {
        failures.push(`${response.status()} ${response.url()}`);
      }
    });
    // Some servers answer before they are ready, with a page that says so.
    for (let leftMs = PAGE_MS_MAX; leftMs > 0; leftMs -= SEEN_MS_MAX) {
      failures.length = 0;
      if ((await page.goto(url, { waitUntil: 'load' }))?.ok() === true) break;
      await page.waitForTimeout(SEEN_MS_MAX);
    }
    await page.getByText(project.page.replace('NAME', project.name)).first().waitFor({ state: 'attached' });
    seen.push('opens');
    await page.waitForLoadState('networkidle');
    if (project.edit !== undefined) seen.push(await edit(cwd, project.edit, (text) => page.getByText(text).first()));
    if (failures.length > 0) throw new Error(failures.slice(0, 3).join(', '));
    await page.close();
    const upgrades = await vivarium(
      'traffic',
      'list',
      '--filter',
      `host:${project.name}.acme.test status:101`,
      '--json',
    );
    seen.push(upgrades.includes('"status":101') ? 'WebSocket 101' : 'no WebSocket');
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}; ${seen.join(', ')}\n${output.text}`, {
      cause: error,
    });
  } finally {
    child.kill('SIGINT');
    const code = await ended;
    seen.push(`Ctrl-C: ${code}`);
  }
  return seen.join(', ');
}

interface Waiting {
  waitFor(options: { timeout: number; state: 'attached' }): Promise<void>;
}

/**
 * Writes one change after another until the page shows one: nothing tells when a server begins to watch, or its page to
 * listen.
 */
async function edit(
  cwd: string,
  { file, from, to }: NonNullable<FrameworkProject['edit']>,
  find: (text: string) => Waiting,
): Promise<string> {
  const path = join(cwd, file);
  const before = readFileSync(path, 'utf8');
  if (!before.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`);
  try {
    for (let leftMs = PAGE_MS_MAX; leftMs > 0; leftMs -= SEEN_MS_MAX) {
      const wanted = to.replace('NUMBER', String(leftMs));
      writeFileSync(path, before.replaceAll(from, wanted));
      const isSeen = await find(wanted)
        .waitFor({ timeout: SEEN_MS_MAX, state: 'attached' })
        .then(() => true)
        .catch(() => false);
      if (isSeen) return 'hot reload';
    }
    throw new Error('the page does not follow its source');
  } finally {
    writeFileSync(path, before);
  }
}

async function main(): Promise<number> {
  const chosen = PROJECTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const browser = await launchChromium({ home: own, args: ['--host-resolver-rules=MAP *.acme.test 127.0.0.1'] });
  let failed = 0;
  try {
    for (const project of chosen) {
      if (project.needs !== undefined && !existsSync(project.needs)) {
        process.stdout.write(`left out  ${project.name}: there is no ${project.needs}\n`);
        continue;
      }
      try {
        process.stdout.write(`ok        ${project.name}: ${await examine(project, browser)}\n`);
      } catch (error) {
        failed += 1;
        process.stdout.write(`failed    ${project.name}: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
    process.stdout.write(
      `left      ${(await vivarium('domains', 'list', '--json')).includes('acme.test') ? 'a domain' : 'nothing'}\n`,
    );
  } finally {
    await browser.close();
    await vivarium('stop').catch(() => undefined);
    rmSync(own, { recursive: true, force: true });
  }
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
