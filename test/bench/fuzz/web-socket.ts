import { sendPieces, type Fuzzer, type FuzzTarget, inParallel, plain, type Random } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

const FRAMES_PER_CONNECTION = 20;

/** A frame of a client: FIN, opcode and length, a masking key of zeros, the payload (RFC 6455 §5.2). */
function frame(head: number, payload: Buffer): Buffer {
  const long = payload.length > 125;
  const start = Buffer.from([head, 0x80 | (long ? 126 : payload.length), ...(long ? [0, 0] : []), 0, 0, 0, 0]);
  if (long) start.writeUInt16BE(payload.length, 2);
  return Buffer.concat([start, payload]);
}

const TEXT = 0x81;
const BINARY = 0x82;

const FRAMES = [
  frame(TEXT, Buffer.from('hello')),
  frame(0x01, Buffer.from('begin')),
  frame(0x80, Buffer.from('end')),
  frame(0xc1, Buffer.from('compressed')),
  frame(BINARY, Buffer.from([0, 1, 2])),
  frame(0x89, Buffer.from('ping')),
  frame(0x8a, Buffer.from('pong')),
  frame(0x88, Buffer.from('\u0003\u00e8bye', 'latin1')),
];

const upgrade = (host: string, path: string, fields: string): Buffer =>
  Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${fields}\r\n`,
  );

export const WEB_SOCKET: Fuzzer = {
  name: 'WebSocket frames, through to an upstream',
  share: 0.06,
  async run({ vivarium, upstreamHost }, random, count) {
    const opening = upgrade(upstreamHost, '/', '');
    await inParallel(Math.ceil(count / FRAMES_PER_CONNECTION), async () => {
      const frames = Array.from({ length: FRAMES_PER_CONNECTION }, () => mutate(pick(FRAMES, random), random));
      await sendPieces(plain(vivarium.runtime.http.port), [opening, ...frames]);
    });
    return 0;
  },
};

interface Call {
  u: string;
  b: { json: object };
}

const calls = ({ projectId }: FuzzTarget): Call[] => {
  const pets = { projectId, environment: 'staging' };
  const inputs = {
    '/projects/list': {},
    '/pets/list': { ...pets, status: 'sold', limit: 2, search: 'rex' },
    '/pets/create': { ...pets, name: 'Rex', categoryId: '7' },
    '/traffic/list': { filter: 'status:>=400 path:/v1' },
    '/events/watch': {},
    '/caa/explain': { hostname: 'www.fuzz.test' },
  };
  return Object.entries(inputs).map(([u, json]) => ({ u, b: { json } }));
};

/** Other messages of the protocol: parts and the end of a stream, and payloads of other types. */
const OTHERS: readonly object[] = [
  { i: '4', t: 3, p: { e: 'message', d: { json: 1 }, m: { id: '1', retry: 1, comments: ['c'] } } },
  { i: '4', t: 4 },
  { i: '6', p: { u: 'http://orpc/caa/explain', h: { 'content-type': 'multipart/form-data; boundary=b' } } },
  { i: '7', p: { u: '/dns/query', b: 'a=b', h: { 'content-type': 'application/x-www-form-urlencoded' } } },
];

const ODD_VALUES = [
  null,
  true,
  -1,
  1e308,
  '',
  [],
  {},
  '\ud800',
  { json: null, meta: [[0, 'a']] },
  [[[[]]]],
  '__proto__',
];

/** `value` with one member, at any depth, removed or replaced. */
function vary(value: unknown, random: Random): unknown {
  if (random(8) === 0) return pick(ODD_VALUES, random);
  if (typeof value === 'string') return mutate(Buffer.from(value), random).toString();
  if (typeof value !== 'object' || value === null) return pick(ODD_VALUES, random);
  const members = Object.entries(value);
  const at = random(members.length);
  const varied = members.flatMap(([name, member], index) => {
    if (index !== at) return [[name, member] as const];
    return random(8) === 0 ? [] : [[name, vary(member, random)] as const];
  });
  return Array.isArray(value) ? varied.map(([, member]) => member) : Object.fromEntries(varied);
}

/** Calls with a mutated input each; every one is answered. */
const drawCalls = (seeds: readonly Call[], random: Random): Buffer[] =>
  Array.from({ length: FRAMES_PER_CONNECTION }, (_, index) => {
    const { u, b } = pick(seeds, random);
    return frame(TEXT, Buffer.from(JSON.stringify({ i: String(index), p: { u, b: vary(b, random) } })));
  });

/** Messages with other members or of broken bytes; most violate the protocol, which closes their connection. */
const drawBroken = (seeds: readonly Call[], random: Random): Buffer[] =>
  Array.from({ length: FRAMES_PER_CONNECTION }, () => {
    const seed = random(2) === 0 ? pick(OTHERS, random) : { i: '1', p: pick(seeds, random) };
    const message = Buffer.from(JSON.stringify(vary(seed, random)));
    if (random(2) === 0) return frame(TEXT, message);
    const broken = frame(BINARY, mutate(Buffer.concat([message, Buffer.from('\xffpart', 'latin1')]), random));
    return random(2) === 0 ? broken : mutate(broken, random);
  });

export const CONTROL_SOCKET: Fuzzer = {
  name: 'WebSocket messages at the control port',
  share: 0.05,
  async run(target, random, count) {
    const { url, token } = target.vivarium.runtime.control;
    const { host, port } = new URL(url);
    const opening = upgrade(host, '/rpc', `Sec-WebSocket-Protocol: vivarium, token.${token}\r\n`);
    const seeds = calls(target);
    let faults = 0;
    await inParallel(Math.ceil(count / FRAMES_PER_CONNECTION), async () => {
      const frames = random(2) === 0 ? drawCalls(seeds, random) : drawBroken(seeds, random);
      const heard = await sendPieces(plain(Number(port)), [opening, ...frames]);
      const text = heard.toString('latin1');
      // A busy machine may send nothing at all.
      if (!/^(?:HTTP\/1\.1 101 |$)/.test(text)) throw new Error(`The control port refused a WebSocket: ${text}`);
      const failed = /"s":500.{0,300}/.exec(text);
      if (failed === null) return;
      faults += 1;
      console.error(`The control port’s WebSocket answers 500: ${failed[0]}`);
    });
    return faults;
  },
};
