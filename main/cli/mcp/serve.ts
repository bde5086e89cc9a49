import { once } from 'node:events';
import { McpServer, ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ownCommand, typed } from '../../base/system/own-command.ts';
import { VERSION } from '../../base/version.ts';
import { boundedText, VivariumError } from '../../contract/errors.ts';
import { didYouMean } from '../../contract/nearest.ts';
import { isReading } from '../../contract/reading.ts';
import type { Settings } from '../../contract/settings.ts';
import { askFor } from '../engine/client.ts';
import { commandLineOf } from '../words/command-line.ts';
import { RemoteFailure } from '../text/io.ts';
import { findRunning } from '../engine/running.ts';
import { allInTools, ANSWER_BYTES_MAX, fit, inTools, withoutSecrets, type Rename } from './answer.ts';
import { procedureNamed } from '../words/procedures.ts';
import { define, offered } from './definitions.ts';
import { fenced } from './fence.ts';
import type { Ask } from './repair.ts';
import { TOOLS, type Tool } from './tools.ts';

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
  const ended = once(process.stdin, 'close');
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
  const askAny: Ask = (procedure, words = {}) => askFor(findRunning(dataDir), procedure, words, signal);
  let own: readonly string[] = [];
  try {
    ({ secretNames: own } = await askAny<Settings>('settings.get'));
    const ask = project === undefined ? askAny : await fenced(askAny, project);
    const value = await (tool.run?.(input, ask) ?? ask<unknown>(tool.procedure, input));
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
    try {
      return `"${ownCommand(dataDir)(commandLineOf(procedureNamed(called), input))}"`;
    } catch {
      return null;
    }
  };
}
