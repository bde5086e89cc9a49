import { switchOption, valueOption } from './words/flags.ts';
import { FAILURE_PREFIX, requireInput } from './text/io.ts';
import { localCommand } from './words/command.ts';
import { TOOLS } from './mcp/tools.ts';
import { columns } from './text/text.ts';

const WRITES_FLAG = switchOption(
  'allow-writes',
  'Also offer tools that make changes: records, domains, projects, the clock, requests',
);

const PROJECT_FLAG = valueOption(
  'project',
  'PROJECT',
  'The only project that the tools see and change: an id, a slug or a name',
);

export const MCP = localCommand({
  name: 'mcp',
  title: 'tools for coding assistants, over the Model Context Protocol',
  options: [WRITES_FLAG, PROJECT_FLAG],
  notes: [
    'An assistant starts it and talks to it over standard input and output (protocol 2026-07-28, and 2025). It queries',
    'the Vivarium running on the data folder; if none is running, the tools explain how to start one. Without --allow-writes',
    'the tools only read. No answer exceeds 8 kB or contains a secret. With --project, other projects are refused; zones,',
    'the clock and the doctor remain shared. The installed app on Windows has no standard input and refuses this command.',
    '',
    'The exit code is 0 when the input ends. The tools, with the parameters of their procedures:',
    '',
    ...columns(TOOLS.map(({ name, procedure, does }) => [name, procedure, does])),
  ],
  examples: ['vivarium mcp', 'vivarium mcp --allow-writes --project shop'],
  async run(read, dataDir, io) {
    requireInput(io, 'For an assistant, install the npm package, whose "vivarium mcp" finds the app’s engine as well.');
    if (process.stdin.isTTY) {
      io.stderr.write(
        `${FAILURE_PREFIX}Waiting on standard input for an assistant, which normally starts this itself. Ctrl-C ends it.\n`,
      );
    }
    await (
      await import('./mcp/serve.ts')
    ).serveAssistants({ dataDir, allowsWrites: read.isOn(WRITES_FLAG), project: read.last(PROJECT_FLAG) });
  },
});
