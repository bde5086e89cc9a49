import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { TrafficDetail } from '../../../main/contract/traffic.ts';
import { entryCode } from '../../../renderer/pages/traffic/entry/entry-request.ts';
import { makeDetail } from '../../support/page/page-traffic.ts';
import { openTerminal, SHELLS, type ShellName } from '../../support/documents/pasting.ts';

/**
 * Requests from strangers are recorded, copied as curl, and pasted into a user's shell: the shell has to run curl, and
 * send what was recorded, byte by byte. Each attack would create a file whose name begins with `pwned`.
 */
const TOUCH = 'touch pwned';
const WITHOUT_BLANK = "touch$IFS'pwned'";
const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const body = (text: string): Partial<TrafficDetail> => ({
  method: 'POST',
  requestBody: { text, encoding: 'utf8', bytes: Buffer.byteLength(text), cut: false },
});
const bytes = (buffer: Buffer): Partial<TrafficDetail> => ({
  method: 'PUT',
  requestBody: { text: buffer.toString('base64'), encoding: 'base64', bytes: buffer.length, cut: false },
});
const field = (value: string): Partial<TrafficDetail> => ({ requestHeaders: [{ name: 'X-Note', value }] });
const TWO_LINES = { name: 'X-Second', value: `'; ${TOUCH}; '` };

const REQUESTS: readonly (readonly [what: string, request: Partial<TrafficDetail>])[] = [
  ['a form of a web page: ^C, and a line of its own', body(`x\u0003\r\n${TOUCH}\r\n`)],
  ['a method of HTTP/2 with backquotes', { method: "`id|tee$IFS-a$IFS'pwned-method'`" }],
  ['a method with history in it', { method: '!!' }],
  ['a method with a quotation mark', { method: "a'b" }],
  ['a method that is a job', { method: '%1' }],
  ['^Z', body(`x\u001a\n${TOUCH}\n`)],
  ['^D', body(`x\u0004\u0004\n${TOUCH}\n`)],
  ['^U and ^M', body(`x\u0015${TOUCH}\r`)],
  ['^\\', body(`x\u001c\n${TOUCH}\n`)],
  ['^O, ^X^E and ^R', body(`x\u000f\u0018\u0005\u0012touch\r`)],
  ['^V and ^W', body(`x\u0016\u0017\u0017\u0017 ${TOUCH}\n`)],
  ['the end of a bracketed paste', body(`x\u001b[201~\n${TOUCH}\n`)],
  ['the end of a bracketed paste, as C1', body(`x\u009b201~\n${TOUCH}\n`)],
  ['a sequence that asks the terminal', body(`\u001b[6n\u001b]0;${TOUCH}\u0007\u001b[5n\n`)],
  ['backspaces', body(`${'\u007f'.repeat(50)}${TOUCH}\n${'\b'.repeat(50)}`)],
  ['tabs', body('a\t\t\tb')],
  ['NUL', body(`a\u0000\n${TOUCH}\u0000`)],
  ['a line end at the end', body('a\n\n')],
  ['a carriage return', body(`a\r${TOUCH}\r`)],
  ['line separators', body(`a\u2028${TOUCH}\u2029${TOUCH}\u0085`)],
  ['bidirectional controls', body(`\u202e${TOUCH}\u202c\u2066x\u2069\u200f`)],
  ['a byte order mark', body('\ufeff{}')],
  ['an emoji of several', body('👩‍🔬 ok')],
  ['quotation marks', body(`'; ${TOUCH}; '`)],
  ['a backslash before a quotation mark', body(`\\'; ${TOUCH}; '\\\\'; ${TOUCH}; '\\`)],
  ['double quotation marks', body(`"; ${TOUCH}; "`)],
  ['typographic quotation marks', body(`’; ${TOUCH}; ‘ ‚‛ “”`)],
  ['substitutions', body(`$(${TOUCH}) \`${TOUCH}\` \${x:=$(${TOUCH})} <(${TOUCH}) (${TOUCH})`)],
  ['history', body('!! !touch !$ !?touch? \\! "!!"')],
  ['history in its second line', body(`a\n!!\n^'^;${TOUCH};'^\n!touch`)],
  ['history behind quotation marks', body(`it's !! "!!" 'x!!`)],
  ['the format of printf', body('%s%d%n\\c\\0101\\x41\n-%')],
  ['an option of printf', body('-v x\n')],
  ['an option of curl', body('@/etc/hostname')],
  ['lines of JSON', body('{\n  "name": "O\'Hara",\n\t"categoryId": 9007199254740993\n}\n')],
  ['nothing', body('')],
  ['bytes', bytes(EVERY_BYTE)],
  ['many bytes', bytes(Buffer.concat(Array.from({ length: 20 }, () => EVERY_BYTE)))],
  ['a long text', body(`é${"it's \\ ".repeat(150)}`)],
  ['a long text with controls', body(`\u0003\n${'é'.repeat(2_500)}`)],
  ['a line longer than a terminal takes', { ...body('x'.repeat(5_000)), target: `/;${WITHOUT_BLANK};` }],
  ['an address of substitutions', { target: `/$(${WITHOUT_BLANK})/\`${WITHOUT_BLANK}\`` }],
  ['an address of commands', { target: `/?a=1&${WITHOUT_BLANK}&b=|${WITHOUT_BLANK}|;${WITHOUT_BLANK};` }],
  ['an address of quotation marks', { target: `/'";${WITHOUT_BLANK};"'\\'` }],
  ['an address of history', { target: "/!!:s/a/b/'!touch'" }],
  ['an address of patterns', { target: '/{a,b}/[1-3]/*?~' }],
  ['an address in UTF-8', { target: '/h\u00c3\u00b6he' }],
  ['an address with a fragment', { target: '/a#b' }],
  ['a field of quotation marks', field(`'; ${TOUCH}; ' "; ${TOUCH}; "`)],
  ['a field with a tab', field('a\tb')],
  ['a field in UTF-8', field('\u00c3\u0089t\u00c3\u00a9')],
  ['a field in Latin-1', field('\u00e9t\u00e9 \u0085 \\ % !')],
  ['an empty field', field('')],
  ['two fields', { requestHeaders: [{ name: '`X`', value: '$(x)' }, TWO_LINES] }],
];

/** A request as sent on the wire. */
interface Received {
  head: string;
  body: Buffer;
}

let server: Server;
let port = 0;
let received: Received[] = [];

beforeAll(async () => {
  server = createServer(receive);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function receive(socket: Socket): void {
  let all = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    all = Buffer.concat([all, chunk]);
    const end = all.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = all.subarray(0, end).toString('latin1');
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (all.length < end + 4 + length) return;
    received.push({ head, body: all.subarray(end + 4) });
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
  });
}

/** Without the headers that curl adds by itself. */
const OWN_FIELDS = /^(host|user-agent|accept|content-length):/i;

function sent({ head, body: sentBody }: Received): { first: string; fields: string[]; body: string } {
  const [first = '', ...fields] = head.split('\r\n');
  return { first, fields: fields.filter((line) => !OWN_FIELDS.test(line)), body: sentBody.toString('latin1') };
}

function recorded({ method, target, requestHeaders, requestBody }: TrafficDetail): ReturnType<typeof sent> {
  return {
    first: `${method} ${target} HTTP/1.1`,
    fields: requestHeaders.map(({ name, value }) => `${name}:${value === '' ? '' : ` ${value}`}`),
    body: Buffer.from(requestBody?.text ?? '', requestBody?.encoding).toString('latin1'),
  };
}

const detailOf = (request: Partial<TrafficDetail>): TrafficDetail =>
  makeDetail(1, { authority: `demo.vivarium.localhost:${port}`, requestHeaders: [], ...request });

const MODES = (Object.keys(SHELLS) as ShellName[]).flatMap((shell) => [
  ...(SHELLS[shell].bracketed ? [[shell, 'as a paste', true] as const] : []),
  [shell, 'as if it were typed', false] as const,
]);

describe.skipIf(process.platform !== 'linux')(
  'a recorded request, copied as curl (on Linux, for its script(1))',
  () => {
    it.each(MODES)('in %s, %s, runs curl and nothing else', { timeout: 180_000 }, async (shell, _how, bracketed) => {
      const home = mkdtempSync(join(tmpdir(), 'vivarium-pasting-'));
      const folder = join(home, 'here');
      mkdirSync(folder);
      const terminal = await openTerminal(shell, { bracketed, folder, env: { HOME: home, VIVARIUM_KEY: 'viv_x' } });
      const differing: unknown[] = [];
      onTestFinished(() => terminal.end());
      for (const [what, request] of REQUESTS) {
        const detail = detailOf(request);
        const status = { ports: { http: port, https: 1, dns: 1, control: 1 }, dataDir: '/d' };
        received = [];
        await terminal.paste(entryCode(detail, status, 'curl')?.text ?? '');
        const got = received.map(sent);
        if (JSON.stringify(got) !== JSON.stringify([recorded(detail)])) differing.push({ what, got });
      }
      expect({ made: readdirSync(folder), differing }).toEqual({ made: [], differing: [] });
    });
  },
);
