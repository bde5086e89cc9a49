import { isOn, lastOf, type Option } from './flags.ts';
import { FAILURE_PREFIX } from './io.ts';
import { localCommand } from './local-command.ts';
import { TOOLS } from './mcp/tools.ts';
import { columns } from './text.ts';

const WRITES_FLAG: Option = {
  name: 'allow-writes',
  kind: 'switch',
  does: 'Also offer the tools that change something: records, domains, projects, the clock, requests',
};

const PROJECT_FLAG: Option = {
  name: 'project',
  kind: 'value',
  placeholder: 'PROJECT',
  does: 'The only project that the tools see and change: an id, a slug or a name',
};

/** The command `mcp`. */
export const MCP = localCommand({
  name: 'mcp',
  title: 'tools for coding assistants, by the Model Context Protocol',
  options: [WRITES_FLAG, PROJECT_FLAG],
  notes: [
    'An assistant starts it and speaks with it over standard input and output (protocol 2026-07-28, and 2025). It asks',
    'the Vivarium that runs on the data folder; where none runs, the tools say how to start one. Without --allow-writes',
    'the tools only read. No answer is longer than 8 kB or has a secret. With --project, what is another project’s is',
    'refused; zones, the clock and the doctor stay everybody’s.',
    '',
    'Exit code 0 when the input ends. The tools; the parameters of each are those of the procedure behind it:',
    '',
    ...columns(TOOLS.map(({ name, procedure, does }) => [name, procedure, does])),
  ],
  examples: ['vivarium mcp', 'vivarium mcp --allow-writes --project shop'],
  async run(read, dataDir, io) {
    if (process.stdin.isTTY) {
      io.stderr.write(
        `${FAILURE_PREFIX}Waiting for an assistant on standard input, which starts this itself. Ctrl-C ends it.\n`,
      );
    }
    await (
      await import('./mcp/serve.ts')
    ).serveAssistants({
      dataDir,
      allowsWrites: isOn(read, WRITES_FLAG.name),
      project: lastOf(read, PROJECT_FLAG.name),
    });
  },
});
