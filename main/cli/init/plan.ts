import { platformHostname } from '../../base/config.ts';
import { slugify } from '../../contract/projects.ts';
import { usageError } from '../words/flags.ts';
import { AGENTS_FILE, withAgents } from './agents.ts';
import type { InitFolder, PackageFile } from './folder.ts';
import { withScripts } from './package-text.ts';
import { slugOf, VIVARIUM_FILE, vivariumFile } from './vivarium-file.ts';

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
