import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MANNERS, type MannersRule } from '../../../main/contract/grades.ts';
import { startEngine } from '../../support/engine.ts';
import { startUpstream } from '../../support/upstream-server.ts';
import { execute as start } from '../../support/command.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SUPPORT = join(ROOT, 'test', 'support', 'manners-clients');
const PAGE = join(ROOT, 'docs', 'reference', 'manners.md');

const NODE = join(SUPPORT, 'node-client.mjs');
const hasPython = spawnSync('/usr/bin/python3', ['-c', 'import tenacity, urllib3']).status === 0;
const hasGo = existsSync('/usr/share/gocode/src/github.com/hashicorp/go-retryablehttp');

/** The clients, by the name in the table; those that this machine lacks are left out with the reason. */
const CLIENTS: Record<string, { command: string[]; lacks?: string }> = {
  'loop without a wait': { command: [process.execPath, NODE, 'loop-without-wait'] },
  'loop with 200 ms': { command: [process.execPath, NODE, 'loop-200-ms'] },
  'polite, with jitter': { command: [process.execPath, NODE, 'polite'] },
  got: { command: [process.execPath, NODE, 'got'] },
  ky: { command: [process.execPath, NODE, 'ky'] },
  'undici RetryAgent': { command: [process.execPath, NODE, 'undici-retry-agent'] },
  'axios-retry': { command: [process.execPath, NODE, 'axios-retry'] },
  'Octokit plugin-retry': { command: [process.execPath, NODE, 'octokit-retry'] },
  'Octokit plugin-throttling, with plugin-retry': { command: [process.execPath, NODE, 'octokit-throttling'] },
  'urllib3 Retry': {
    command: ['/usr/bin/python3', join(SUPPORT, 'python_client.py'), 'urllib3'],
    ...(!hasPython && { lacks: 'python3-urllib3, python3-tenacity' }),
  },
  tenacity: {
    command: ['/usr/bin/python3', join(SUPPORT, 'python_client.py'), 'tenacity'],
    ...(!hasPython && { lacks: 'python3-tenacity' }),
  },
  'go-retryablehttp': {
    command: ['go', 'run', join(SUPPORT, 'go_client.go'), 'go'],
    ...(!hasGo && { lacks: 'golang-github-hashicorp-go-retryablehttp-dev' }),
  },
  'curl --retry': {
    command: [
      'sh',
      '-c',
      `echo "$REQUESTS" | tr -d '[]"' | tr ',' '\\n' | paste - - | while read -r method path; do curl -s -o /dev/null --retry 3 -X "$method" -H "Authorization: Bearer $2" "$1$path"; done`,
      'sh',
    ],
  },
};

/** What each client is asked to get: pages that are well, busy for a moment, or down. */
const REQUESTS = [
  ...Array.from({ length: 10 }, (_, number) => ['GET', `/well/${number}`]),
  ...Array.from({ length: 3 }, (_, number) => ['GET', `/busy/${number}`]),
  ['GET', '/down'],
  ['POST', '/orders'],
  ['GET', '/private'],
];

/** Busy: 503 with `Retry-After: 1` at the first request of each key, then well. Down: 500. Private: 401. */
async function startTarget(): Promise<string> {
  const asked = new Set<string>();
  const target = await startUpstream((request, response) => {
    request.resume();
    const { url = '', headers } = request;
    const id = `${url} ${headers.authorization}`;
    const isFirst = !asked.has(id);
    asked.add(id);
    if (url === '/private') response.writeHead(401).end();
    else if (url.startsWith('/busy') && isFirst) response.writeHead(503, { 'Retry-After': '1' }).end();
    else if (url === '/down' || url === '/orders') response.writeHead(500).end();
    else response.end('well');
  });
  return target.url;
}

const RULES = [
  ...['waits-for-retry-after', 'backs-off', 'gives-up', 'stops-when-refused', 'no-blind-repeat'],
  ...['reuses-connections', 'names-itself'],
] as const satisfies readonly MannersRule[];

/** So few that `spreads`, about callers that were refused together, is not seen. */
const TOGETHER = 4;

const MARKS = { kept: '✓', broken: '✗', not_seen: '' } as const;

/** `WRITE=1 npm run test:clients -- manners` makes the page again. */
function check(part: string, table: string, isWhole = true): void {
  const page = readFileSync(PAGE, 'utf8');
  const written = page.replace(
    new RegExp(`(<!-- ${part} -->\\n\\n)[^]*?(<!-- end -->)`),
    (_all, before: string, after: string) => `${before}${table}\n\n${after}`,
  );
  if (process.env.WRITE === '1') writeFileSync(PAGE, written);
  if (isWhole) expect(readFileSync(PAGE, 'utf8')).toBe(written);
}

it('the page has each rule as the contract says it', () => {
  const rows = Object.values(MANNERS).map(([title, sentence]) => `| ${title} | ${sentence} |`);
  check('rules', ['| Rule | What a client does |', '|---|---|', ...rows].join('\n'));
});

it('the table of the documents is what real clients get', async () => {
  const engine = await startEngine();
  const url = await startTarget();
  const { id: projectId, slug } = await engine.call('projects.create', {
    name: 'Clients',
    slug: 'clients',
    target: { kind: 'upstream', url },
  });
  const base = `http://${slug}.vivarium.localhost:${engine.app.runtime.http.port}`;
  const there = Object.entries(CLIENTS).filter(([, { lacks }]) => lacks === undefined);
  const env = { ...process.env, REQUESTS: JSON.stringify(REQUESTS), GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };
  const run = async (name: string, [program = '', ...args]: readonly string[]): Promise<void> => {
    const { secret } = await engine.call('keys.create', { projectId, name });
    await start(program, [...args, base, secret], { env, timeout: 150_000, cwd: ROOT });
  };
  for (let at = 0; at < there.length; at += TOGETHER) {
    await Promise.all(there.slice(at, at + TOGETHER).map(([name, { command }]) => run(name, command)));
  }
  const { callers } = await engine.call('manners.report', { projectId });
  const rows = Object.keys(CLIENTS).flatMap((name) => {
    const caller = callers.find(({ key }) => key?.name === name);
    if (caller === undefined) return [];
    const verdicts = RULES.map(
      (rule) => MARKS[caller.rules.find((found) => found.rule === rule)?.verdict ?? 'not_seen'],
    );
    return [`| ${name} | **${caller.grade ?? '–'}** | ${verdicts.join(' | ')} |`];
  });
  const graded = callers.filter(({ grade }) => grade !== null);
  if (there.length >= 12) expect(graded.length).toBeGreaterThanOrEqual(12);
  const head = ['Client', 'Grade', ...RULES.map((rule) => MANNERS[rule][0])];
  const table = [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
  check('clients', table, there.length === Object.keys(CLIENTS).length);
});
