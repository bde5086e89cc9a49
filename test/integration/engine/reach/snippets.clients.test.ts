import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findChromium } from '../../../support/chromium.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { run } from '../../../support/command.ts';
import { hasProgram, requireTool } from '../../../support/tools.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SNIPPETS_TIMEOUT_MS = 180_000;
const HOSTNAME = 'www.happypaws.test';
const HOSTILE_NAME = String.raw`it's "$HOME" $x #{x} 100%s \n \u0041 {x}`;
const ROOT = join(import.meta.dirname, '..', '..', '..', '..');

let engine: Engine;
let texts: Record<string, string>;
let environment: string;
let projectId: string;
beforeEach(async () => {
  // Every language has its own way to get the path of the root wrong.
  engine = await startEngine({ dataDir: join(temporaryFolder(), HOSTILE_NAME) });
  ({ projectId } = await engine.call('domains.get', { hostname: HOSTNAME }));
  const { secret } = await engine.call('keys.create', { projectId });
  const { snippets } = await engine.call('reach.snippets', { hostname: HOSTNAME });
  texts = Object.fromEntries(snippets.map(({ id, text }) => [id, text]));
  environment = `export VIVARIUM_KEY=${secret}`;
});

/** The output of a shell in which `lines` are pasted, in a folder that contains `file`. */
async function shell(lines: string, file?: { name: string; text: string }, folder = temporaryFolder()) {
  if (file !== undefined) writeFileSync(join(folder, file.name), file.text);
  const { code, stdout, stderr } = await run('bash', ['-c', `cd ${folder}\n${environment}\n${lines}`]);
  expect({ code, stderr: code === 0 ? '' : stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** What the key of the project is needed for. */
const PETS = /^\[\{"id":1,"name":"Biscuit the Border Collie",[^\]]*\}\]\s*$/;

describe('a snippet, run unchanged', { timeout: SNIPPETS_TIMEOUT_MS }, () => {
  it('works for curl, directly and through the proxy', async () => {
    requireTool('curl');
    const [direct = '', proxied = ''] = (texts.curl ?? '').split('\n\n');
    expect(await shell(direct)).toMatch(PETS);
    expect(await shell(proxied)).toMatch(PETS);
  });

  it('works for secure DNS, with curl and with dig', async () => {
    const [curl = '', dig = ''] = (texts.doh ?? '').split('\n\n');
    expect(await shell(curl)).toMatch(PETS);
    const { port } = engine.app.runtime.https;
    expect(await shell(`${dig.trim()} +short`)).toBe(`cname.vivarium.localhost.\n1 . alpn="h2" port=${port}\n`);
  });

  it('works for Node', async () => {
    expect(await shell(`'${process.execPath}' reach.mjs`, { name: 'reach.mjs', text: texts.node ?? '' })).toMatch(PETS);
  });

  it.skipIf(!hasProgram('python3', '-c', 'import requests'))(
    'works for Python requests (skipped without it)',
    async () => {
      expect(await shell('python3 reach.py', { name: 'reach.py', text: texts.requests ?? '' })).toMatch(PETS);
    },
  );

  it.skipIf(!hasProgram('python3', '--version'))('works for Python urllib (skipped without python3)', async () => {
    expect(await shell('python3 reach.py', { name: 'reach.py', text: texts.urllib ?? '' })).toMatch(PETS);
  });

  it.skipIf(!hasProgram('javac', '-version'))('works for Java (skipped without a JDK)', async () => {
    expect(await shell('java Reach.java', { name: 'Reach.java', text: texts.java ?? '' })).toMatch(PETS);
  });

  it('works for HTTPie (skipped where it is not installed)', async ({ skip }) => {
    skip(!hasProgram('http', '--version'), 'http is not installed');
    const [head = '', body = ''] = (await shell(texts.httpie ?? '')).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(body).toMatch(PETS);
  });

  it.for([
    ['go', ['go', 'version'], 'reach.go', 'go run reach.go'],
    ['php', ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'], 'reach.php', 'php reach.php'],
    ['ruby', ['ruby', '--version'], 'reach.rb', 'ruby reach.rb'],
  ] as const)('works for %s (skipped where it is not installed)', async ([id, version, name, command], { skip }) => {
    const [program, ...args] = version;
    skip(!hasProgram(program, ...args), `${program} is not installed`);
    const said = await shell(command, { name, text: texts[id] ?? '' });
    const [status, ...body] = said.split('\n');
    expect([status, body.join('\n')]).toEqual(['200', expect.stringMatching(PETS)]);
  });

  it('works for C# (skipped where .NET is not installed)', async ({ skip }) => {
    skip(!hasProgram('dotnet', '--version'), 'dotnet is not installed');
    const folder = temporaryFolder();
    await shell('dotnet new console --output . --force', undefined, folder);
    expect(await shell('dotnet run', { name: 'Program.cs', text: texts.csharp ?? '' }, folder)).toMatch(
      /^200\n\[\{"id":1,/,
    );
  });

  it('works for PowerShell (skipped where it is not installed)', async ({ skip }) => {
    skip(!hasProgram('pwsh', '--version'), 'pwsh is not installed');
    const text = (texts.powershell ?? '').replace('curl.exe', 'curl --silent');
    expect(await shell('pwsh -NoProfile -File reach.ps1', { name: 'reach.ps1', text })).toMatch(
      / 200 [^]*\r\n\r\n\[\{"id":1,/,
    );
  });

  it('works for Playwright, with this machine’s browser', async () => {
    const text = (texts.playwright ?? '')
      .replace("'playwright'", JSON.stringify(join(ROOT, 'node_modules', 'playwright-core', 'index.mjs')))
      .replace('launch({', `launch({ executablePath: ${JSON.stringify(findChromium())}, args: ['--no-sandbox'],`);
    expect(await shell(`'${process.execPath}' reach.mjs`, { name: 'reach.mjs', text })).toMatch(PETS);
  });

  it('works for dig, with the server that verification queries', async () => {
    requireTool('dig');
    expect(await shell(texts.dig ?? '')).toMatch(/^www\.happypaws\.test\.\s+\d+\s+IN\s+CNAME\s+cname\.vivarium\./m);
  });

  it('works for the environment, which Node’s fetch uses', async () => {
    const text = `const headers = { Authorization: 'Bearer ' + process.env.VIVARIUM_KEY };
fetch('https://${HOSTNAME}/v1/pets?limit=5', { headers }).then((response) => response.text()).then(console.log, console.error);`;
    const said = await shell(`${texts.environment ?? ''}\n'${process.execPath}' reach.mjs`, {
      name: 'reach.mjs',
      text,
    });
    expect(said).toMatch(PETS);
  });
});

describe('reach.snippets', () => {
  it.each([
    [HOSTNAME, undefined, 'https', true],
    [HOSTNAME, 'http', 'http', true],
    ['happypaws.example', undefined, 'http', false],
    ['happypaws.example', 'https', 'https', false],
  ] as const)(
    'requests %s over %s through %s, whether or not HTTPS is served: %s',
    async (hostname, scheme, over, isServed) => {
      const { url, direct, secure } = await engine.call('reach.snippets', { hostname, scheme });
      const port = engine.app.runtime[over]?.port;
      expect({ url, direct, secure }).toEqual({
        url: `${over}://${hostname}/v1/openapi.json`,
        direct: `${over}://${hostname}:${port}/v1/openapi.json`,
        secure: isServed,
      });
    },
  );

  it.each([
    ['php', ['php']],
    ['python', ['requests', 'urllib']],
    ['environment', ['environment']],
  ])('has only those of the language %s', async (language, ids) => {
    const { snippets } = await engine.call('reach.snippets', { hostname: HOSTNAME, language });
    expect(snippets.map(({ id }) => id)).toEqual(ids);
  });

  it('has no snippets for a hostname that is not served', async () => {
    await expect(engine.call('reach.snippets', { hostname: 'example.com' })).rejects.toThrow(/Nothing is served at/);
  });
});
