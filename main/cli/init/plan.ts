import { platformHostname } from '../../base/config.ts';
import { slugify } from '../../contract/hostnames.ts';
import { usageError } from '../words/flags.ts';
import { type InitFolder, type PackageFile, slugOf, VIVARIUM_FILE, vivariumFile } from './folder.ts';

/** The answers to the questions, or the options. */
export interface InitAnswers {
  /** A name, or a hostname, which has a dot. */
  word: string;
  /** The command that starts the dev server; null to omit it. */
  command: string | null;
  agents: boolean;
}

/** A file to write. */
export interface InitFile {
  path: string;
  /** Null for a new file. */
  before: string | null;
  after: string;
}

export interface InitPlan {
  files: InitFile[];
  /** Sentences about what is not changed, and why. */
  kept: string[];
  /** The command that starts the app from now on; null if unknown. */
  start: string | null;
}

/**
 * Plans everything that `vivarium init` writes; nothing if it has all been written before.
 * @throws VivariumError `invalid_request` for another name than that of the dev script
 */
export function planInit(folder: InitFolder, answers: InitAnswers): InitPlan {
  const { served } = folder;
  if (served?.file === 'package.json' && slugify(served.word) !== slugify(answers.word)) {
    throw usageError(`The dev script already runs ${served.word}. To rename the app, change package.json.`);
  }
  const plan: InitPlan = { files: [], kept: [], start: null };
  const hostname = answers.word.includes('.') ? answers.word : null;
  const entry = { name: hostname === null ? answers.word : folder.name, hostname, run: answers.command };
  if (folder.vivariumFile !== null) plan.kept.push(`${folder.vivariumFile} already exists.`);
  else plan.files.push({ path: VIVARIUM_FILE, before: null, after: vivariumFile(entry, folder.schema) });

  const own = runCommand(folder, answers.word);
  if (folder.package === null || answers.command === null) {
    plan.start = answers.command === null ? null : `${own} ${answers.command}`;
  } else {
    planScript(folder.package, { own, command: answers.command }, plan);
  }

  if (answers.agents) {
    const project = served?.word === answers.word ? served.project : slugOf(entry);
    const after = withAgents(folder.agents, {
      start: plan.start ?? `${own} COMMAND`,
      hostname: hostname ?? platformHostname(project, 'production'),
      custom: hostname ?? 'HOSTNAME',
      project,
    });
    if (after === folder.agents) plan.kept.push(`${AGENTS_FILE} is already up to date.`);
    else plan.files.push({ path: AGENTS_FILE, before: folder.agents, after });
  }
  return plan;
}

/** `vivarium run` takes the folder's own name where it gets none. A slug and a hostname need no quotes in any shell. */
function runCommand({ name }: InitFolder, word: string): string {
  if (word.includes('.')) return `vivarium run ${word} --`;
  return slugify(word) === slugify(name) ? 'vivarium run --' : `vivarium run ${slugify(word)} --`;
}

/** A script with several commands, redirections, or variables in front: more than one program with its words. */
const NEEDS_SHELL = /[&|;<>()`]|^\s*\w+=/;

/** The name of the script to which such a script is moved. */
const APP_SCRIPT = 'dev:app';

function planScript(
  { text, manager, scripts, script }: PackageFile,
  { own, command }: { own: string; command: string },
  plan: InitPlan,
): void {
  const name = script ?? 'dev';
  plan.start = manager === 'npm' || manager === 'bun' ? `${manager} run ${name}` : `${manager} ${name}`;
  const present = script === null ? undefined : scripts[script];
  if (present !== undefined && /\bvivarium run\b/.test(present)) {
    plan.kept.push(`The script ${name} of package.json already has "vivarium run".`);
    return;
  }
  if (script === null) {
    // A text without scripts has no clear place for a new one.
    plan.start = `${own} ${command}`;
    plan.kept.push(`package.json has no script that starts a dev server. Start it with: ${plan.start}`);
    return;
  }
  if (!NEEDS_SHELL.test(command)) {
    plan.files.push({
      path: 'package.json',
      before: text,
      after: withScripts(text, { [name]: `${own} ${command}` }, name),
    });
    return;
  }
  if (scripts[APP_SCRIPT] !== undefined) {
    plan.start = `${own} ${plan.start}`;
    plan.kept.push(`The script ${name} needs a shell, and ${APP_SCRIPT} already exists. Start it with: ${plan.start}`);
    return;
  }
  const wrapped = { [name]: `${own} ${manager} run ${APP_SCRIPT}`, [APP_SCRIPT]: command };
  plan.files.push({ path: 'package.json', before: text, after: withScripts(text, wrapped, name) });
}

/** A string, its escapes included, a mark, or any other value. */
const TOKEN = /"(?:[^"\\]|\\[^])*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Where a member of an object in JSON text is. */
interface Place {
  /** Its name, quotes included. */
  name: { start: number; end: number };
  value: { start: number; end: number };
}

/**
 * Replaces the text of scripts in `package.json`, and adds missing ones after `after`. Everything else stays
 * as written.
 */
export function withScripts(text: string, scripts: Readonly<Record<string, string>>, after: string): string {
  let changed = text;
  for (const [name, script] of Object.entries(scripts)) {
    const found = findScript(changed, name);
    const value = JSON.stringify(script);
    if (found !== null) {
      changed = changed.slice(0, found.value.start) + value + changed.slice(found.value.end);
      continue;
    }
    const before = findScript(changed, after);
    if (before === null) throw new Error(`There is no script ${after}.`);
    const space = /\s*$/.exec(changed.slice(0, before.name.start))?.[0] ?? '';
    const colon = changed.slice(before.name.end, before.value.start);
    const added = `,${space}${JSON.stringify(name)}${colon}${value}`;
    changed = changed.slice(0, before.value.end) + added + changed.slice(before.value.end);
  }
  return changed;
}

/** The last member of that name counts, as it does for `JSON.parse`. */
function findScript(text: string, name: string): Place | null {
  const path: string[] = [];
  let found: Place | null = null;
  let member: { name: string; start: number; end: number } | null = null;
  let last = '';
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const [start, end] = [index, index + token.length];
    if (token === '{' || token === '[') {
      path.push(last === ':' ? (member?.name ?? '') : '');
    } else if (token === '}' || token === ']') {
      path.pop();
    } else if (last === ':' && path.length === 2 && path[1] === 'scripts' && member?.name === name) {
      found = { name: { start: member.start, end: member.end }, value: { start, end } };
    } else if (token.startsWith('"') && last !== ':') {
      member = { name: JSON.parse(token) as string, start, end };
    }
    last = token;
  }
  return found;
}

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
- If a browser does not know the hostname: \`vivarium open ${hostname}\`.
- Vivarium starts by itself. \`vivarium status\` says whether it is running; \`vivarium doctor\` says what is wrong with the machine.
- The app itself reaches Vivarium's hostnames without a port and trusts its root. For programs that it does not start,
  \`vivarium ca export --output root.pem\` writes it to a file.

## Find out why

- Why a request failed: \`vivarium traffic list --filter status:5xx\`, then \`vivarium traffic get ID\`.
- Why a custom hostname does not open: \`vivarium domain get ${custom}\`; why it has no certificate:
  \`vivarium caa explain ${custom}\`.
- How much of its limits each caller has used: \`vivarium limits usage ${project}\`.
- Whether code waits as it should: \`vivarium clock advance 1m\` moves the clock of limits and certificates, not the computer's.
  Put it back with \`vivarium clock reset\`.

Add \`--json\` to these commands for JSON. \`vivarium help\` has all of them. As tools of the Model Context Protocol: \`vivarium mcp\`.
`;
}
