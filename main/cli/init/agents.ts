/** The file that coding assistants read in a repository. */
export const AGENTS_FILE = 'AGENTS.md';

const BEGIN =
  '<!-- vivarium: begin (written by "vivarium init --agents"; the text between these lines is replaced) -->';
const END = '<!-- vivarium: end -->';

/** What an assistant must know about the app. */
export interface AgentsFacts {
  /** The command that starts the app, such as `npm run dev`. */
  start: string;
  /** Where it is served: its own hostname, or the platform's. */
  hostname: string;
  /** The app's own hostname, or a word for one. */
  custom: string;
  /** The slug of its project. */
  project: string;
}

/** Adds the section about Vivarium to a text, or replaces an earlier one. */
export function withAgents(text: string | null, facts: AgentsFacts): string {
  const part = `${BEGIN}\n\n${agentsPart(facts)}\n${END}`;
  if (text === null || text.trim() === '') return `${part}\n`;
  const [start, end] = [text.indexOf('<!-- vivarium: begin'), text.indexOf(END)];
  const own = text.includes('\r\n') ? part.replaceAll('\n', '\r\n') : part;
  if (start >= 0 && end > start) return text.slice(0, start) + own + text.slice(end + END.length);
  const line = text.includes('\r\n') ? '\r\n' : '\n';
  return `${text.replace(/\s*$/, '')}${line}${line}${own}${line}`;
}

function agentsPart({ start, hostname, custom, project }: AgentsFacts): string {
  return `## Run the app

- \`${start}\` starts the dev server and serves it at ${hostname} with Vivarium, over verified HTTPS, for as long as the
  command runs. \`vivarium ps --json\` has its address, with the port. Do not start the dev server separately.
- If a browser does not know the hostname: \`vivarium reach open ${hostname}\`.
- Vivarium starts by itself. \`vivarium status\` says whether it is running; \`vivarium doctor\` says what is wrong with the machine.
- The app itself reaches Vivarium's hostnames without a port and trusts its root. For programs that it does not start,
  \`vivarium ca export --output root.pem\` writes it to a file.

## Find out why

- Why a request failed: \`vivarium traffic list --filter status:5xx\`, then \`vivarium traffic get ID\`.
- Why a custom hostname does not open: \`vivarium domains get ${custom}\`; why it has no certificate:
  \`vivarium caa explain ${custom}\`.
- How much of its limits each caller has used: \`vivarium limits usage ${project}\`.
- Whether code waits as it should: \`vivarium clock advance 1m\` moves the clock of limits and certificates, not the computer's.
  Put it back with \`vivarium clock reset\`.

Add \`--json\` to these commands for JSON. \`vivarium help\` has all of them. As tools of the Model Context Protocol: \`vivarium mcp\`.
`;
}
