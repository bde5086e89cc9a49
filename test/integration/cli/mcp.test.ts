import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { ANSWER_BYTES_MAX } from '../../../main/cli/mcp/serve.ts';
import { startEngine, type Engine } from '../../support/engine.ts';
import { PROGRAM, runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Said {
  text: string;
  isError: boolean;
}

interface Assistant {
  client: Client;
  /** Calls a tool; an answer is one text, and the note about a shortened one. */
  call(name: string, input?: Record<string, unknown>): Promise<Said>;
}

/** The built `vivarium mcp` in its own process, connected to the specification's own client. */
async function startAssistant(
  dataDir: string,
  { mode = 'auto', options = [] }: { mode?: 'auto' | 'legacy'; options?: readonly string[] } = {},
): Promise<Assistant> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const args = [PROGRAM, 'mcp', '--data-dir', dataDir, ...options];
  const env = { ...(process.env as Record<string, string>), VIVARIUM_COMMAND: 'vivarium' };
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  return {
    client,
    async call(name, input = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: input });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      return { text, isError };
    },
  };
}

async function startBoth(...options: readonly string[]): Promise<Engine & { assistant: Assistant }> {
  const engine = await startEngine();
  return { ...engine, assistant: await startAssistant(engine.dataDir, { options }) };
}

const CALLS_MAX = 6;

/** Makes the calls that lead from a question to its answer; returns the last answer. */
type Way = (ask: Assistant['call'], engine: Engine) => Promise<string>;

/** The text of a successful call. */
const ok = async (said: Promise<Said>): Promise<string> => {
  const { text, isError } = await said;
  expect([text, isError]).toEqual([text, false]);
  return text;
};

/** Questions to an assistant, one after the other in the demo world, with the answer and the calls that lead to it. */
const QUESTIONS: readonly [question: string, answer: RegExp, way: Way][] = [
  [
    'Why does happypaws.example have no certificate?',
    /"reason":"caa_forbids".*authorises other-ca\.example only/,
    async (ask) => {
      expect(await ok(ask('status'))).toMatch(
        /"hostname":"happypaws.example","state":"verified","certificate":"pending"/,
      );
      return ok(ask('explain_certificate', { hostname: 'happypaws.example' }));
    },
  ],
  [
    'Why does shop.happypaws.test not open, and can you repair it?',
    /"changed":\["replaced shop CNAME happypaws\.old-host\.example with .*"state":"verified"/,
    async (ask) => {
      expect(await ok(ask('explain_domain', { hostname: 'shop.happypaws.test' }))).toMatch(/"code":"wrong_target"/);
      return ok(ask('repair_domain', { hostname: 'shop.happypaws.test' }));
    },
  ],
  [
    'Let happypaws.example have its certificate.',
    /added @ CAA 0 issue .*"certificate":\{"state":"issued"/,
    (ask) => ok(ask('repair_domain', { hostname: 'happypaws.example' })),
  ],
  [
    'Which request was refused, and why?',
    /The limit of 60 requests per minute was used up/,
    async (ask, engine) => {
      for (let sent = 0; sent < 61; sent++) await engine.api();
      const list = await ok(ask('list_traffic', { filter: 'status:429' }));
      return ok(ask('explain_request', { id: /"id":"(\w+)"/.exec(list)?.[1] ?? '' }));
    },
  ],
  [
    'When may my key be used again?',
    /"minute":\{"limit":60,"used":60,"resetsAt":"2/,
    (ask) => ok(ask('explain_limits', { projectId: 'demo' })),
  ],
  [
    'Does my client work again once the minute is over?',
    /"status":200.*"stage":"target"/,
    async (ask) => {
      expect(await ok(ask('move_clock', { by: '1m' }))).toMatch(/per-minute limit/);
      const [, keyId] = /"keys":\[\{"id":"(\w+)"/.exec(await ok(ask('explain_limits', { projectId: 'demo' }))) ?? [];
      return ok(ask('send_request', { hostname: 'demo.vivarium.localhost', target: '/v1/pets?limit=1', keyId }));
    },
  ],
  [
    'Serve the project Demo at app.demo.test.',
    /"url":"https:\/\/app\.demo\.test:\d+"/,
    async (ask) => {
      const input = { projectId: 'demo', hostname: 'app.demo.test', local: true };
      const refused = await ask('attach_domain', input);
      expect(refused).toMatchObject({
        isError: true,
        text: expect.stringContaining('update_project {"projectId":"demo"'),
      });
      await ok(ask('update_project', { projectId: 'demo', plan: 'pro' }));
      return ok(ask('attach_domain', input));
    },
  ],
  [
    'Does DNS know a new TXT record, and is this machine in order?',
    /"failed":0/,
    async (ask) => {
      const record = { zone: 'happypaws.test', name: 'info', type: 'TXT', value: 'hello' };
      await ok(ask('put_record', record));
      expect(await ok(ask('query_dns', { name: 'info.happypaws.test', type: 'TXT' }))).toMatch(/"value":"hello"/);
      return ok(ask('doctor', { areas: ['listeners', 'dns'] }));
    },
  ],
];

it('answers eight questions with at most six calls each', async () => {
  const engine = await startBoth('--allow-writes');
  for (const [question, answer, way] of QUESTIONS) {
    let calls = 0;
    const ask: Assistant['call'] = (...words) => {
      calls++;
      return engine.assistant.call(...words);
    };
    expect([question, await way(ask, engine)]).toEqual([question, expect.stringMatching(answer)]);
    expect([question, calls <= CALLS_MAX]).toEqual([question, true]);
  }
  expect(QUESTIONS).toHaveLength(8);
});

it('is read-only, tells how to allow writes, and refuses an unknown name by naming it', async () => {
  const { assistant, call } = await startBoth();
  const { tools } = await assistant.client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('put_record');
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  const before = await call('clock.get');
  const refused = await assistant.call('move_clock', { by: '1d' });
  expect(refused).toEqual({ isError: true, text: expect.stringMatching(/only reads.*vivarium mcp --allow-writes$/) });
  expect(await call('clock.get')).toMatchObject({ offset: (before as { offset: string }).offset });

  const ofNobody = { isError: true, text: 'No project "prj_ofAnotherFolder1". List them: status.' };
  expect(await assistant.call('explain_limits', { projectId: 'prj_ofAnotherFolder1' })).toEqual(ofNobody);
  expect(await assistant.call('explain_domain', { hostname: 'nowhere.test' })).toMatchObject({ isError: true });
  expect(await assistant.call('list_traffic', { filter: 'sttus:4xx' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('Did you mean'),
  });
  await expect(assistant.call('explain_domian')).rejects.toThrow('Did you mean "explain_domain"');
});

it('explains a domain with what the API of its project’s provider says', async () => {
  const { assistant, call } = await startBoth();
  const hostname = 'www.happypaws.test';
  expect(await ok(assistant.call('explain_domain', { hostname }))).not.toContain('providerApi');
  await call('projects.update', { projectId: 'happy-paws', persona: 'vercel' });
  expect(await ok(assistant.call('explain_domain', { hostname }))).toMatch(
    /"providerApi":\{"provider":"vercel","answers":\[\{"call":"GET .*"misconfigured":false/,
  );
});

it('is limited to the project that it was started for', async () => {
  const { assistant, api, call } = await startBoth('--allow-writes', '--project', 'happy-paws');
  await api();
  const { items } = await call('traffic.list');
  const status = await assistant.call('status');
  expect(status.text).toMatch(/"slug":"happy-paws".*"hostname":"shop.happypaws.test"/);
  expect(status.text).not.toMatch(/"slug":"demo"/);
  expect((await assistant.call('list_traffic')).text).toContain('"items":[]');
  expect(await assistant.call('explain_domain', { hostname: 'shop.happypaws.test' })).toMatchObject({ isError: false });
  const foreign = {
    isError: true,
    text: expect.stringMatching(/belongs to another project\. .* started for "happy-paws" only\.$/),
  };
  expect(await assistant.call('explain_limits', { projectId: 'demo' })).toEqual(foreign);
  expect(await assistant.call('update_project', { projectId: 'demo', plan: 'pro' })).toEqual(foreign);
  expect(await assistant.call('send_request', { hostname: 'Demo.vivarium.localhost' })).toEqual(foreign);
  expect(await assistant.call('explain_request', { id: items[0]?.id })).toEqual(foreign);
  const entry = 'api.unavailable';
  expect(await assistant.call('break', { entry, on: { hostname: 'demo.vivarium.localhost' } })).toEqual(foreign);
  for (const on of [{}, { hostname: '*.vivarium.localhost' }, { projectId: 'demo' }]) {
    expect(await assistant.call('break', { entry, on })).toMatchObject({
      isError: true,
      text: expect.stringContaining('name one of its hostnames'),
    });
  }
  const broken = await assistant.call('break', { entry, on: { projectId: 'happy-paws' } });
  const [, id] = /"id":"(brk_\w+)"/.exec(broken.text) ?? [];
  expect((await assistant.call('status')).text).toContain(`"broken":[{"id":"${id}"`);
  expect(await assistant.call('repair', { id })).toMatchObject({ isError: false });
  expect(await call('traffic.list')).toMatchObject({ items: [{ id: items[0]?.id }] });
});

it('answers without secrets, in 8 kB, with a note on how to get the rest', async () => {
  const { assistant, api, app } = await startBoth('--allow-writes');
  const secret = app.demoKey()?.secret ?? '';
  for (let sent = 0; sent < 60; sent++) {
    await api({ path: `/v1/pets?password=sesame&n=${sent}`, headers: { 'x-internal-token': 'sesame' } });
  }
  const list = await assistant.call('list_traffic');
  expect(list.text).toContain('"stage":"target","answeredBy":"api"');
  expect(list.text).not.toContain('sesame');
  const [, next = ''] = /For the next items: list_traffic (\{.*\})$/.exec(list.text) ?? [];
  const more = await assistant.call('list_traffic', JSON.parse(next) as Record<string, unknown>);
  const numbers = [...`${list.text}${more.text}`.matchAll(/&n=(\d+)/g)].map(([, number]) => Number(number));
  expect(numbers.slice(0, 40)).toEqual(Array.from({ length: 40 }, (_, index) => 59 - index));

  const [, id = ''] = /"id":"(\w+)"/.exec(list.text) ?? [];
  const body = JSON.stringify({ password: 'sesame', notes: 'x'.repeat(20_000) });
  const sent = await assistant.call('send_request', { hostname: 'demo.vivarium.localhost', method: 'POST', body });
  expect(sent.text).toMatch(/Shortened\. In full: vivarium traffic get trf_/);
  const one = await assistant.call('explain_request', { id });
  expect(`${sent.text}${one.text}`).not.toContain('sesame');
  expect(`${sent.text}${one.text}${list.text}`).not.toContain(secret);
});

it('tells how to start a Vivarium if none runs, finds one started later, and speaks the protocol of 2025', async () => {
  const dataDir = temporaryFolder();
  const assistant = await startAssistant(dataDir);
  const { text, isError } = await assistant.call('status');
  expect([isError, text]).toEqual([
    true,
    expect.stringMatching(/^No Vivarium is running on .* Start one with "vivarium start -d/),
  ]);
  await startEngine({ dataDir });
  expect(await assistant.call('status')).toMatchObject({ isError: false });

  const older = await startAssistant(dataDir, { mode: 'legacy' });
  expect(assistant.client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(older.client.getNegotiatedProtocolVersion()).toMatch(/^2025/);
  expect(await older.call('status')).toMatchObject({ isError: false });
});

it('ends well with an input that is empty, and no pipe', async () => {
  expect(await runProgram(['mcp', '--data-dir', temporaryFolder()])).toMatchObject({ code: 0, stderr: '' });
});
