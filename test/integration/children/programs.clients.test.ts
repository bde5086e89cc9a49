import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openChildren } from '../../../main/children/children.ts';
import { type Engine, startEngine, track } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startUpstream } from '../../support/upstream-server.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const { resolve } = createRequire(join(ROOT, 'package.json'));
const HOSTNAME = 'app.acme.test';
const REF = `${'a'.repeat(40)}\trefs/heads/main`;

interface Program {
  /** As the document names it. */
  name: string;
  /** What the document says about it. */
  says: string;
  /** A command that succeeds where the program is installed. */
  probe: readonly string[];
  command: readonly string[];
  /** The file of the command, which requests both URLs and prints their bodies. */
  file?: readonly [name: string, text: string];
}

const NODE_SAYS = 'Node 22.21, 24.5 or newer';
const [PYTHON] = ['/usr/bin/python3', 'python3'].filter((path) => hasProgram(path, '-c', 'import httpx, requests'));
const python = PYTHON ?? 'python3';
const URLS = `['http://${HOSTNAME}/', 'https://${HOSTNAME}/']`;
const EACH = `for (const url of ${URLS})`;
const node = (name: string, text: string, says = NODE_SAYS, modules: readonly string[] = []): Program => ({
  name,
  says,
  probe: [process.execPath, '-e', modules.map((module) => `require(${JSON.stringify(module)});`).join('')],
  command: [process.execPath, 'ask.cjs'],
  file: ['ask.cjs', `(async () => { ${text} })();`],
});
const inPython = (name: string, text: string, module: string): Program => ({
  name,
  says: 'yes',
  probe: [python, '-c', `import ${module}`],
  command: [python, 'ask.py'],
  file: ['ask.py', `import ${module}\nfor url in ${URLS}:\n    ${text}\n`],
});
const findModule = (name: string): string => {
  try {
    return resolve(name);
  } catch {
    return name;
  }
};
const required = (name: string) => `require(${JSON.stringify(findModule(name))})`;

const GO = `package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	for _, url := range []string{"http://${HOSTNAME}/", "https://${HOSTNAME}/"} {
		answer, err := http.Get(url)
		if err != nil {
			panic(err)
		}
		io.Copy(os.Stdout, answer.Body)
	}
}
`;
import { hasProgram } from '../../support/tools.ts';
import { execute } from '../../support/command.ts';

const PROGRAMS: readonly Program[] = [
  node('Node’s `fetch`', `${EACH} console.log(await (await fetch(url)).text());`),
  node(
    'Node’s `http` and `https`',
    `for (const name of ['http', 'https'])
      require(name).get(name + '://${HOSTNAME}/', (answer) => answer.pipe(process.stdout));`,
  ),
  node(
    'undici',
    `const { EnvHttpProxyAgent, request } = ${required('undici')};
    const dispatcher = new EnvHttpProxyAgent();
    ${EACH} console.log(await (await request(url, { dispatcher })).body.text());`,
    'with its `EnvHttpProxyAgent`',
    [findModule('undici')],
  ),
  node('axios', `${EACH} console.log((await ${required('axios')}.get(url)).data);`, 'yes', [findModule('axios')]),
  node('got', `${EACH} console.log((await ${required('got')}.default(url)).body);`, NODE_SAYS, [findModule('got')]),
  inPython('Python `requests`', 'print(requests.get(url).text)', 'requests'),
  inPython('Python `httpx`', 'print(httpx.get(url).text)', 'httpx'),
  inPython('Python urllib', 'print(urllib.request.urlopen(url).read().decode())', 'urllib.request'),
  { name: 'Go', says: 'on Linux', probe: ['go', 'version'], command: ['go', 'run', 'ask.go'], file: ['ask.go', GO] },
  {
    name: 'PHP with curl',
    says: 'yes',
    probe: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    command: ['php', 'ask.php'],
    file: ['ask.php', `<?php foreach (${URLS} as $url) curl_exec(curl_init($url));`],
  },
  {
    name: 'Ruby',
    says: 'yes',
    probe: ['ruby', '--version'],
    command: ['ruby', 'ask.rb'],
    file: ['ask.rb', `require 'net/http'\n${URLS}.each { |url| puts Net::HTTP.get(URI(url)) }`],
  },
  {
    name: 'curl',
    says: 'yes, except `curl.exe` of Windows, which trusts the system’s roots only',
    probe: ['curl', '--version'],
    command: ['curl', '-sS', `http://${HOSTNAME}/`, `https://${HOSTNAME}/`],
  },
  {
    name: 'git',
    says: 'yes; on Windows with `http.sslBackend=openssl`',
    probe: ['git', '--version'],
    command: ['sh', '-c', `git ls-remote http://${HOSTNAME}/ && git ls-remote https://${HOSTNAME}/`],
  },
];

/** What no variable can reach, and what does instead: the snippet of a language. */
const UNREACHED: readonly (Program & { snippet: string; run: readonly [file: string, ...command: string[]] })[] = [
  {
    name: 'Go on macOS and Windows',
    says: 'it trusts the system’s roots only',
    probe: ['go', 'version'],
    // As there, with a root that Go does not read.
    command: ['env', '-u', 'SSL_CERT_FILE', 'go', 'run', 'ask.go'],
    file: ['ask.go', GO],
    snippet: 'go',
    run: ['reach.go', 'go', 'run', 'reach.go'],
  },
  {
    name: 'PHP’s streams',
    says: 'they take a proxy from no variable',
    probe: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    command: ['php', 'ask.php'],
    file: [
      'ask.php',
      `<?php foreach (${URLS} as $url) if (@file_get_contents($url) === false) exit(1); else echo 'reached';`,
    ],
    snippet: 'php',
    run: ['reach.php', 'php', 'reach.php'],
  },
  {
    name: 'Java',
    says: 'it reads neither',
    probe: ['javac', '-version'],
    command: ['java', 'Ask.java'],
    file: [
      'Ask.java',
      `public class Ask { public static void main(String[] a) throws Exception {
        System.out.write(new java.net.URL("https://${HOSTNAME}/").openStream().readAllBytes()); } }`,
    ],
    snippet: 'java',
    run: ['Reach.java', 'java', 'Reach.java'],
  },
];

let engine: Engine;
let run: (command: readonly string[], file: Program['file']) => Promise<string>;
beforeEach(async () => {
  engine = await startEngine({ empty: true });
  // git asks for the refs of a repository that is served as files.
  const upstream = await startUpstream(({ url }, response) =>
    response.end(url?.startsWith('/info/refs') === true ? `${REF}\n` : 'reached\n'),
  );
  const target = { kind: 'upstream', url: upstream.url };
  const { id: projectId } = await engine.call('projects.create', { name: 'App', plan: 'pro', target });
  await engine.call('deploys.create', { projectId });
  await engine.call('domains.attach', { projectId, hostname: HOSTNAME, local: true });
  const { http, caFile } = engine.app.runtime;
  const children = await openChildren({ folder: temporaryFolder(), caFile, env: {}, enginePort: () => http.port });
  track(children.close);
  run = async ([command = '', ...args], file) => {
    const cwd = temporaryFolder();
    if (file !== undefined) writeFileSync(join(cwd, file[0]), file[1]);
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, GIT_CONFIG_NOSYSTEM: '1', GOFLAGS: '-mod=mod', ...children.variables };
    return (await execute(command, args, { cwd, env })).stdout;
  };
});

/** `go run` compiles the standard library first. */
const PROGRAM_MS_MAX = 180_000;

describe('the environment of children', { timeout: PROGRAM_MS_MAX }, () => {
  it.for(PROGRAMS)(
    'lets $name reach both URLs without a port (skipped where it is not installed)',
    async (program, { skip }) => {
      const [probe = '', ...args] = program.probe;
      skip(!hasProgram(probe, ...args), `${program.name} is not installed`);
      expect((await run(program.command, program.file)).match(/reached|\trefs\/heads\/main/g)).toHaveLength(2);
    },
  );

  it.for(UNREACHED)(
    'does not reach $name, whose snippet does (skipped where it is not installed)',
    async (program, { skip }) => {
      const [probe = '', ...args] = program.probe;
      skip(!hasProgram(probe, ...args), `${program.name} is not installed`);
      const direct = await run(program.command, program.file).then(
        () => 'reached',
        () => 'not reached',
      );
      expect(direct).toBe('not reached');
      const { snippets } = await engine.call('reach.snippets', { hostname: HOSTNAME });
      const text = snippets.find(({ id }) => id === program.snippet)?.text ?? '';
      const [file, ...command] = program.run;
      expect(await run(command, [file, text])).toContain('reached');
    },
  );

  it('is documented by the same table', () => {
    const document = readFileSync(join(ROOT, 'docs', 'reference', 'addresses.md'), 'utf8');
    const [, table = ''] = document.split('| Program | Reaches and trusts the hostnames |\n|---|---|\n');
    const rows = [
      ...PROGRAMS.map(({ name, says }) => `| ${name} | ${says} |`),
      ...UNREACHED.map(
        ({ name, says, snippet }) =>
          `| ${name} | no: ${says}. \`vivarium reach snippets ${HOSTNAME} --language ${snippet}\` |`,
      ),
    ];
    expect(table.split('\n\n')[0]?.split('\n')).toEqual(rows);
  });
});
