import { once } from 'node:events';
import { McpServer, ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ownCommand, typed } from '../../base/system/own-command.ts';
import { VERSION } from '../../base/config.ts';
import { boundedText, orElse, VivariumError } from '../../contract/errors.ts';
import { didYouMean } from '../../contract/issues.ts';
import { asking } from '../engine/client.ts';
import { commandLineOf } from '../words/command-line.ts';
import { RemoteFailure } from '../text/io.ts';
import { findRunning } from '../engine/running.ts';
import { procedureNamed } from '../words/procedures.ts';
import { define, offered, TOOLS, type Tool } from './tools.ts';
import { replaceMentions, isReading } from '../../contract/calls.ts';
import { createRedactor } from '../../traffic/redact.ts';
import { HIDDEN } from '../../traffic/secret-names.ts';
import { normalizeHostname } from '../../base/text/hostname.ts';
import type { Ask, ProcedureName, ResultOf } from '../../contract/index.ts';
import { isWildcard, wildcardOver } from '../../contract/hostnames.ts';

export interface AssistantServer {
  dataDir: string;
  allowsWrites: boolean;
  /** The only project that the tools may see and change; all by default. */
  project: string | undefined;
}

/** Clients may cache the list of tools: it only changes with the program. */
const LIST_MS = 3_600_000;

/** The part of an answer that says how to get the rest of it. */
const REST_LENGTH_MAX = 400;

/** Serves the tools on standard input and output until the input ends. */
export async function serveAssistants(options: AssistantServer): Promise<void> {
  // An input that is a file, such as /dev/null, has no `close`.
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')]);
  serveStdio(() => createServer(options));
  await ended;
}

function createServer({ dataDir, allowsWrites, project }: AssistantServer): McpServer {
  const server = new McpServer(
    { name: 'vivarium', version: VERSION },
    {
      capabilities: { tools: { listChanged: false } },
      cacheHints: { 'tools/list': { ttlMs: LIST_MS, cacheScope: 'private' } },
      instructions: instructions(allowsWrites),
    },
  );
  const tools = offered(allowsWrites);
  server.server.setRequestHandler('tools/list', () => ({ tools: tools.map(define) }));
  server.server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const { name, arguments: input = {} } = params;
    const tool = TOOLS.find((candidate) => candidate.name === name);
    if (tool === undefined) {
      const near = didYouMean(
        name,
        tools.map((candidate) => candidate.name),
      );
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}.${near}`);
    }
    if (!tools.includes(tool)) return failed(refusal(tool));
    return answer(tool, input, { dataDir, project, tools, signal });
  });
  return server;
}

const instructions = (allowsWrites: boolean): string =>
  'Vivarium serves HTTP APIs and dev servers on this machine at custom hostnames over HTTPS, with local DNS, a local CA, ' +
  'plan limits and one clock that can be moved. ' +
  (allowsWrites
    ? 'Call status first.'
    : `Call status first. These tools only read; "${typed('vivarium mcp --allow-writes')}" also has tools that make changes.`);

const refusal = ({ name }: Tool): string =>
  `${name} changes what Vivarium serves, and this server only reads. The user has to start it as: ${typed('vivarium mcp --allow-writes')}`;

interface Asked {
  dataDir: string;
  project: string | undefined;
  /** The tools that messages may name. */
  tools: readonly Tool[];
  signal: AbortSignal;
}

async function answer(tool: Tool, input: Record<string, unknown>, asked: Asked): Promise<CallToolResult> {
  const { dataDir, project, signal } = asked;
  const rename = renameTo(asked);
  const askAny = asking(() => findRunning(dataDir), signal);
  let own: readonly string[] = [];
  try {
    ({ secretNames: own } = await askAny('settings.get'));
    const ask = project === undefined ? askAny : await fenced(askAny, project);
    const value = await (tool.run?.(input, ask) ?? ask(tool.procedure, input));
    const clean: unknown = JSON.parse(withoutSecrets(JSON.stringify(allInTools(value, rename)), own));
    const { text, shown, isCut } = fit(clean, ANSWER_BYTES_MAX - 2 * REST_LENGTH_MAX);
    const next = shown === null ? null : (tool.next?.(value, shown) ?? null);
    if (!isCut) return said([text]);
    const [procedure, read] = tool.readBy?.(value) ?? [tool.procedure, input];
    const rest =
      next === null
        ? restBy(procedure, read, dataDir)
        : `For the next items: ${tool.name} ${JSON.stringify({ ...input, ...next })}`;
    return said([text, withoutSecrets(boundedText(`Shortened. ${rest}`, REST_LENGTH_MAX), own)]);
  } catch (error) {
    if (!(error instanceof VivariumError || error instanceof RemoteFailure)) throw error;
    return failed(withoutSecrets(inTools(boundedText(error.message, MESSAGE_LENGTH_MAX), rename), own));
  }
}

/** Half of an answer's bytes, in case every character has two. */
const MESSAGE_LENGTH_MAX = 4_000;

const said = (texts: readonly string[]): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
});

const failed = (text: string): CallToolResult => ({ ...said([text]), isError: true });

/** How to read a shortened answer in full, without repeating a change. */
function restBy(called: string, input: Record<string, unknown>, dataDir: string): string {
  if (!isReading(called)) return '';
  return `In full: ${ownCommand(dataDir)(`${commandLineOf(procedureNamed(called), input)} --json`)}`;
}

/** Renders calls of procedures as offered tools, otherwise as command lines. */
function renameTo({ tools, dataDir }: Asked): Rename {
  return (called, input) => {
    const tool = tools.find(({ procedure }) => procedure === called);
    if (tool !== undefined) return `${tool.name} ${JSON.stringify(input)}`;
    const covering = tools.find(({ covers = [] }) => covers.includes(called));
    if (covering !== undefined) return covering.name;
    return orElse(() => `"${ownCommand(dataDir)(commandLineOf(procedureNamed(called), input))}"`, null);
  };
}

/** The longest answer, in bytes of UTF-8: about 2,500 tokens. */
export const ANSWER_BYTES_MAX = 8_000;

/** Limits of list items and text characters, tried in turn until an answer is short enough. */
const CUTS: readonly (readonly [items: number, characters: number])[] = [
  [100, 4_000],
  [50, 2_000],
  [30, 1_000],
  [20, 1_000],
  [12, 500],
  [6, 500],
  [3, 200],
  [1, 100],
];

/**
 * The JSON text of a value in at most `bytesMax` bytes, with counts instead of omitted parts.
 * `shown`: how many items are left in a shortened list; null if the answer is whole or was shortened elsewhere.
 */
export function fit(value: unknown, bytesMax: number): { text: string; shown: number | null; isCut: boolean } {
  const whole = JSON.stringify(value);
  if (Buffer.byteLength(whole) <= bytesMax) return { text: whole, shown: null, isCut: false };
  for (const [items, characters] of CUTS) {
    const text = JSON.stringify(cut(value, items, characters));
    if (Buffer.byteLength(text) <= bytesMax) return { text, shown: shownOf(value, items), isCut: true };
  }
  // The value has many short properties.
  return {
    text: Buffer.from(whole)
      .toString('utf8', 0, bytesMax)
      .replace(/\uFFFD$/, ''),
    shown: null,
    isCut: true,
  };
}

function shownOf(value: unknown, items: number): number | null {
  const list = typeof value === 'object' && value !== null && 'items' in value ? value.items : null;
  return Array.isArray(list) && list.length > items ? items : null;
}

function cut(value: unknown, items: number, characters: number): unknown {
  if (typeof value === 'string') {
    const left = value.length - characters;
    return left > 0 ? `${value.slice(0, characters)}… (${left} more characters)` : value;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((item) => cut(item, items, characters));
    return value.length > items ? [...kept, `… (${value.length - items} more)`] : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part, items, characters)]));
}

/** Renders a call of a procedure for the reader; null leaves it unchanged. */
export type Rename = (procedure: string, input: Record<string, unknown>) => string | null;

/** Renders the calls in messages as tools or command lines. */
export const inTools = (text: string, rename: Rename): string =>
  replaceMentions(text, ({ namespace, procedure, input }) => rename(`${namespace}.${procedure}`, input));

/** Renders the calls in every text of a value. */
export function allInTools(value: unknown, rename: Rename): unknown {
  if (typeof value === 'string') return inTools(value, rename);
  if (Array.isArray(value)) return value.map((item) => allInTools(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, allInTools(part, rename)]));
}

/**
 * Removes secrets from a text, by the same table as Traffic: header fields, parameters and JSON members by name, and
 * anything that has the form of a secret. `own`: additional names set by the user.
 */
export const withoutSecrets = (text: string, own: readonly string[]): string =>
  // A shortened secret still looks like one.
  createRedactor(own).body(text).replaceAll(`${HIDDEN}${HIDDEN}`, HIDDEN);

/**
 * Restricts all calls to one project: it is the default of `ask`, lists omit other projects, and calls
 * for another project are refused. Zones, the clock and the machine are shared.
 * @throws VivariumError `not_found` when there is no such project.
 */
export async function fenced(ask: Ask, project: string): Promise<Ask> {
  const own = await ask('projects.get', { projectId: project });

  const refused = (what: string): VivariumError =>
    new VivariumError(
      'forbidden',
      `${what} belongs to another project. This server was started for "${own.slug}" only.`,
    );

  const isOwn = (projectId: unknown): boolean => [own.id, own.slug, own.name].includes(String(projectId));

  function inOwn(procedure: string, input: Record<string, unknown>): Record<string, unknown> {
    if (procedureNamed(procedure).input.properties?.['projectId'] === undefined) return input;
    const { projectId = own.id } = input;
    if (isOwn(projectId)) return { ...input, projectId: own.id };
    throw refused(JSON.stringify(projectId));
  }

  async function checkHostname(hostname: string): Promise<void> {
    const read = normalizeHostname(hostname);
    // The engine reports the fault.
    if (!read.ok) return;
    const names = [read.hostname, wildcardOver(read.hostname)];
    const [domains, projects] = await Promise.all([ask('domains.list'), ask('projects.list')]);
    const holder =
      domains.find((domain) => names.includes(domain.hostname))?.projectId ??
      projects.find(({ baseUrl }) => Object.values(baseUrl).some((url) => new URL(url).hostname === read.hostname))?.id;
    if (holder !== undefined && holder !== own.id) throw refused(hostname);
  }

  /** Breaks may only affect this project's hostnames. */
  async function checkBreak(on: unknown): Promise<void> {
    const { hostname, projectId } = (on ?? {}) as { hostname?: unknown; projectId?: unknown };
    if (isOwn(projectId)) return;
    if (typeof hostname === 'string' && !isWildcard(hostname)) return checkHostname(hostname);
    const why = `This server was started for "${own.slug}" only`;
    throw new VivariumError(
      'forbidden',
      `${why}: name one of its hostnames in on.hostname, without a wildcard, or the project in on.projectId.`,
    );
  }

  const isForeign = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'projectId' in value && value.projectId !== own.id;

  /** Removes items of other projects. */
  function ownPart(procedure: string, value: unknown): unknown {
    if (procedure === 'projects.list') return [own];
    if (Array.isArray(value)) return value.filter((item) => !isForeign(item));
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.entries(value).map(([name, part]) => [name, Array.isArray(part) ? ownPart('', part) : part]);
    return Object.fromEntries(parts);
  }

  return async <Name extends ProcedureName>(procedure: Name, input: object = {}): Promise<ResultOf<Name>> => {
    const words = inOwn(procedure, input as Record<string, unknown>);
    if (typeof words['hostname'] === 'string') await checkHostname(words['hostname']);
    if (procedure === 'breaks.start') await checkBreak(words['on']);
    const answer: unknown = await ask(procedure, words);
    if (isForeign(answer)) throw refused('The result');
    return ownPart(procedure, answer) as ResultOf<Name>;
  };
}
