import { expect, it } from 'vitest';
import { findChromium } from '../../support/chromium.ts';
import { startProgram } from '../../support/program.ts';
import { expectWalk as expectOutcomes, paste, readmeCommands, walk } from '../../support/readme-walk.ts';
import { requireTool } from '../../support/tools.ts';
import { startUpstream } from '../../support/upstream-server.ts';

/** Every line starts a program of its own. */
const WALK_TIMEOUT_MS = 240_000;

type Walk = readonly [command: string, outcome: RegExp][];

/** Pastes the commands of a page, and compares what each of them says: the exit code, then its words. */
async function expectWalk(page: string, headings: readonly string[], expected: Walk): Promise<void> {
  requireTool('curl');
  const { runtime, dataDir, output, end } = await startProgram([], {
    // Its sandbox needs user namespaces, which containers and root do not have.
    env: { VIVARIUM_BROWSER: findChromium(), VIVARIUM_BROWSER_ARGUMENTS: '--headless=new --no-sandbox' },
  });
  const here = (command: string) =>
    command
      .replaceAll('~/.local/share/vivarium', dataDir)
      .replaceAll('/tmp/vivarium-…', dataDir)
      .replaceAll('8080', String(runtime.http.port))
      .replaceAll('4780', new URL(runtime.control.url).port);
  const commands = headings.flatMap((heading) => readmeCommands(heading, page)).map(here);
  const names = commands.some((command) => command.startsWith('export VIVARIUM_DATA_DIR='));
  const said = await paste(commands, {
    // In place of the usual folder; a page that is about another one names it itself.
    ...(!names && { VIVARIUM_DATA_DIR: dataDir }),
    KEY: /viv_\w+/.exec(output().stdout)?.[0] ?? '',
  });
  // In order, so that it ends the browsers that it has opened.
  expect((await end()).code).toBe(0);
  expect(said.map(({ command }, index) => command.slice(0, expected[index]?.[0].length))).toEqual(
    expected.map(([command]) => command),
  );
  expect(said.map(({ text, exitCode }) => `${exitCode}\n${text.trim()}`)).toEqual(
    expected.map(([, outcome]) => expect.stringMatching(outcome) as string),
  );
}

const CUSTOM_DOMAIN: Walk = [
  ['D=', /^0\n$/],
  ['v()', /^0\n$/],
  ['P=', /^0\n$/],
  ['v deploys create', /^0\n[^]*^status +succeeded$/m],
  ['v domains attach', /^0\n[^]*^state +pending$[^]*value: cname\.vivarium\.localhost/m],
  ['v zones create', /^0\n[^]*^name +acme\.test$/m],
  ['v records put', /^0\n[^]*^type +CNAME$/m],
  ['v domains verify', /^0\n[^]*^state +verified$[^]*^certificate\.state +issued$/m],
  ['v reach open', /^0\n[^]*^url +https:\/\/shop\.acme\.test\/v1\/openapi\.json$[^]*^trust +(root|keys)$/m],
  ['curl', /^0\n[^]*\{"openapi":"3\.1\./],

  ['v records put', /^0\n[^]*^value +0 issue ";"$/m],
  ['v certificates renew', /^1\nvivarium: No certificate was issued for shop\.acme\.test: /],
  ['v caa explain', /^1\n[^]*^verdict +forbidden$/m],
  ['v records put', /^0\n[^]*^value +0 issue "vivarium\.localhost"$/m],
  ['v certificates renew', /^0\n[^]*^state +issued$/m],
  ['v settings update', /^0\n[^]*^propagation +PT1H$/m],
  ['R=', /^0\n$/],
  ['v records remove', /^0\nRemoved shop CNAME [^]*; it is answered until /],
  ['v domains verify', /^0\n[^]*^state +verified$/m],
  ['v clock advance', /^0\n[^]*^offset +PT2H$/m],
  ['v domains verify', /^1\n[^]*^state +misconfigured$[^]*^serving\.https +true$/m],
  ['v clock reset', /^0\n[^]*^offset +PT0S$/m],
  ['v settings update', /^0\n[^]*^propagation +PT0S$/m],
  ['v domains remove', /^0\nRemoved shop\.acme\.test\.$/],
];

const DEMO: Walk = [
  ['export VIVARIUM_DATA_DIR=', /^0\n$/],
  ['A=', /^0\n$/],
  ['v()', /^0\n$/],
  ['P=', /^0\n$/],
  ['curl', /^0\n\[\{"id":1,"name":"Biscuit the Border Collie",[^\]]*\}\]$/],
  ['for', /^0\n(200 )+(429 ?)+$/],
  ['v clock advance', /^0\n[^]*^offset +PT1M$/m],
  ['curl', /^0\n200$/],
  ['v projects update', /^0\n[^]*^plan +pro$/m],
  ['v clock set', /^0\n[^]*^now +2030-12-05T00:00:/m],
  ['curl', /^0\n410$/],
  ['v clock reset', /^0\n[^]*^offset +PT0S$/m],
  ['v reach open', /^0\n[^]*^url +https:\/\/www\.happypaws\.test\//m],
  ['v caa explain', /^1\n[^]*^verdict +forbidden$/m],
];

const UPSTREAM_WALK: readonly [command: string, outcome: RegExp][] = [
  ['D=', /^0\n$/],
  ['v()', /^0\n$/],
  ['v projects create', /^0\n[^]*^target\.url +http:\/\/127\.0\.0\.1:\d+$/m],
  ['P=', /^0\n$/],
  ['v deploys create', /^0\n[^]*^status +succeeded$/m],
  ['v zones create', /^0\n[^]*^name +acme\.test$/m],
  ['v records put', /^0\n[^]*^type +CNAME$/m],
  ['v domains attach', /^0\n[^]*^state +pending$/m],
  ['v domains verify', /^0\n[^]*^certificate\.state +issued$[^]*^serving\.https +true$/m],
  ['curl', /^0\n[^]*host 127\.0\.0\.1:\d+, asked for as https:\/\/app\.acme\.test:\d+$/],
  ['v projects update', /^0\n[^]*^target\.host +keep$/m],
  ['curl', /^0\n[^]*host app\.acme\.test:\d+, asked for as https:\/\/app\.acme\.test:\d+$/],
];

it(
  '“Put my app behind it”, at its own Host and at the one that was asked for',
  { timeout: WALK_TIMEOUT_MS },
  async () => {
    const app = await startUpstream(({ headers }, response) =>
      response.end(
        `host ${headers.host}, asked for as ${String(headers['x-forwarded-proto'])}://${String(headers['x-forwarded-host'])}`,
      ),
    );
    const commands = readmeCommands('With the command line', 'docs/put-my-app-behind-it.md');
    expectOutcomes(await walk(commands, { 5173: app.port }), UPSTREAM_WALK);
  },
);

it('“Test a custom domain”, pasted line by line', { timeout: WALK_TIMEOUT_MS }, () =>
  expectWalk('docs/test-a-custom-domain.md', ['From nothing to the padlock', 'Break it'], CUSTOM_DOMAIN),
);

it('“Give a demo”, pasted line by line', { timeout: WALK_TIMEOUT_MS }, () =>
  expectWalk('docs/give-a-demo.md', ['Five minutes in a terminal'], DEMO),
);
