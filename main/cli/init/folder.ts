import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from '../../base/text/exact-json.ts';
import { codeOf, reasonOf } from '../../base/error-code.ts';
import { invalidRequest } from '../../contract/errors.ts';
import { slugify } from '../../contract/hostnames.ts';
import { readAppFolder, type AppFolder, hostnameOf } from '../run/asked-run.ts';
import { readArguments } from '../words/flags.ts';
import { existsSync } from 'node:fs';
import { CNAME_TARGET } from '../../base/config.ts';
import { apexOf } from '../../domains/public-suffix.ts';
import { SCHEMA_FILE, SCHEMA_URL } from '../../world/schema.ts';

/** The findings of `vivarium init` in a folder. */
export interface InitFolder extends AppFolder {
  /** The name of the framework, such as `Next.js`; null if unknown. */
  framework: string | null;
  /** The command that starts the dev server; null if the user must be asked. */
  command: string | null;
  package: PackageFile | null;
  /** Where editors find the schema of the vivarium.yaml. */
  schema: string;
  /** The name of an existing vivarium.yaml, vivarium.yml or vivarium.json. */
  vivariumFile: string | null;
  /** The text of `AGENTS.md`; null where there is none. */
  agents: string | null;
  /** What the dev script, else the vivarium.yaml serves; null where neither says so. */
  served: ServedApp | null;
}

/** Where a folder's own files serve the app. */
export interface ServedApp {
  /** Its hostname, or the name of its project. */
  word: string;
  /** The slug of its project. */
  project: string;
  file: 'package.json' | 'vivarium.yaml';
}

export interface PackageFile {
  text: string;
  manager: PackageManager;
  scripts: Readonly<Record<string, string>>;
  /** The script that starts the dev server; null where none does. */
  script: string | null;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** Names of the script that starts a dev server, most usual first. */
const DEV_SCRIPTS = ['dev', 'start:dev', 'develop', 'serve', 'start'] as const;

/** Frameworks by a package of all their projects; a framework precedes the one on which it builds. */
const BY_PACKAGE: readonly (readonly [name: string, framework: string])[] = [
  ['next', 'Next.js'],
  ['nuxt', 'Nuxt'],
  ['astro', 'Astro'],
  ['@sveltejs/kit', 'SvelteKit'],
  ['@react-router/dev', 'React Router'],
  ['@remix-run/dev', 'Remix'],
  ['@angular/core', 'Angular'],
  ['@nestjs/core', 'NestJS'],
  ['gatsby', 'Gatsby'],
  ['vite', 'Vite'],
  ['fastify', 'Fastify'],
  ['express', 'Express'],
];

/** Frameworks and tools by a file, with their usual command. */
const BY_FILE: readonly (readonly [file: string, framework: string, command: string])[] = [
  ['manage.py', 'Django', 'python3 manage.py runserver'],
  ['config.ru', 'Rack', 'bundle exec rackup'],
  ['artisan', 'Laravel', 'php artisan serve'],
  ['mix.exs', 'Elixir', 'mix phx.server'],
  ['go.mod', 'Go', 'go run .'],
  ['Cargo.toml', 'Rust', 'cargo run'],
  ['pom.xml', 'Maven', './mvnw spring-boot:run'],
];

const LOCK_FILES: readonly (readonly [file: string, manager: PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
];

/** @throws VivariumError `invalid_request` for an invalid `package.json`. */
export async function readInitFolder(folder: string): Promise<InitFolder> {
  const names = new Set(await readdir(folder));
  const found = names.has('package.json') ? await readPackageFile(folder) : null;
  const byFile = BY_FILE.find(([file]) => names.has(file));
  const rails = names.has('config.ru') && names.has('bin') && names.has('Gemfile');
  const framework = found?.framework ?? (rails ? 'Rails' : byFile?.[1]) ?? null;
  const script = found?.file.script ?? null;
  const app = await readAppFolder(folder);
  const vivariumFile = VIVARIUM_FILES.find((name) => names.has(name)) ?? null;
  return {
    ...app,
    served:
      (await servedByScript(found?.file.scripts[script ?? ''], app)) ??
      (vivariumFile === null ? null : await servedByFile(await readText(join(folder, vivariumFile)))),
    framework,
    schema: schemaFor(folder),
    command:
      script === null ? (rails ? 'bin/rails server' : (byFile?.[2] ?? null)) : withoutRun(found?.file.scripts[script]),
    package: found?.file ?? null,
    vivariumFile,
    agents: names.has('AGENTS.md') ? await readText(join(folder, 'AGENTS.md')) : null,
  };
}

/** The command behind `vivarium run`, where a script has that already. */
function withoutRun(script = ''): string | null {
  if (!/\bvivarium run\b/.test(script)) return script.trim() || null;
  return /\bvivarium run\b.*? -- (.+)$/.exec(script)?.[1] ?? null;
}

async function servedByScript(script = '', { name }: AppFolder): Promise<ServedApp | null> {
  const [, words] = /\bvivarium run\b(.*?)(?: --(?: .*)?)?$/.exec(script) ?? [];
  if (words === undefined) return null;
  const { RUN } = await import('../run/run-app.ts');
  try {
    const [word = slugify(name)] = readArguments(words.split(' ').filter(Boolean), RUN.options).positionals;
    return { word, project: slugify(word), file: 'package.json' };
  } catch {
    return null;
  }
}

/** The project with a command, or the only one; null also for a file with a fault. */
async function servedByFile(text: string): Promise<ServedApp | null> {
  const { readSource } = await import('../../world/source.ts');
  try {
    const projects = Object.entries(objectOf(objectOf(readSource(text).content)['projects']));
    const started = projects.filter(([, project]) => objectOf(project)['run'] !== undefined);
    const [found, another] = started.length > 0 ? started : projects;
    if (found === undefined || another !== undefined) return null;
    const [project, entry] = found;
    return { word: hostnameOf(objectOf(entry)) ?? project, project, file: 'vivarium.yaml' };
  } catch {
    return null;
  }
}

async function readPackageFile(folder: string): Promise<{ file: PackageFile; framework: string | null }> {
  const path = join(folder, 'package.json');
  const text = await readText(path);
  const read = parsed(text, path);
  const scripts = Object.fromEntries(
    Object.entries(objectOf(read['scripts'])).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
  const packages = { ...objectOf(read['dependencies']), ...objectOf(read['devDependencies']) };
  return {
    file: {
      text,
      manager: await findManager(folder, read['packageManager']),
      scripts,
      script: DEV_SCRIPTS.find((name) => scripts[name] !== undefined) ?? null,
    },
    framework: BY_PACKAGE.find(([name]) => Object.hasOwn(packages, name))?.[1] ?? null,
  };
}

/** Finds the package manager by `package.json`, or by the lock file in the folder or above, as in a workspace. */
async function findManager(folder: string, named: unknown): Promise<PackageManager> {
  const own = typeof named === 'string' ? named.split('@')[0] : undefined;
  const known = LOCK_FILES.find(([, manager]) => manager === own)?.[1];
  if (known !== undefined) return known;
  const names = new Set(await readdir(folder).catch(() => []));
  const locked = LOCK_FILES.find(([file]) => names.has(file))?.[1];
  if (locked !== undefined) return locked;
  return names.has('.git') || dirname(folder) === folder ? 'npm' : findManager(dirname(folder), undefined);
}

function parsed(text: string, path: string): Record<string, unknown> {
  try {
    // npm reads one that begins with a byte order mark, too.
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (isRecord(value)) return value;
  } catch (cause) {
    throw invalidRequest(`${path} is not JSON: ${(cause as Error).message}.`, { cause });
  }
  throw invalidRequest(`${path} is not a JSON object.`);
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'EISDIR') throw invalidRequest(`${path} is a folder.`, { cause });
    throw invalidRequest(`${path} cannot be read (${reasonOf(cause)}).`, { cause });
  }
}

/** The file in a repository that describes what `vivarium up` makes. */
export const VIVARIUM_FILE = 'vivarium.yaml';

/** The names that an existing file may have. */
export const VIVARIUM_FILES = [VIVARIUM_FILE, 'vivarium.yml', 'vivarium.json'] as const;

/** The contents of a first file for an app. */
export interface AppEntry {
  name: string;
  /** Null where the app has the platform's own hostname only. */
  hostname: string | null;
  /** What starts its dev server; null where that is not known. */
  run: string | null;
}

/** The slug of the project that `vivarium run` uses for the same words. */
export const slugOf = ({ name, hostname }: Omit<AppEntry, 'run'>): string => slugify(hostname ?? name);

const PACKAGED_SCHEMA = `./node_modules/vivarium/resources/${SCHEMA_FILE}`;

/** Where editors find the schema: in the folder's package, which colleagues have too, else at the usual control port. */
export const schemaFor = (folder: string): string =>
  existsSync(join(folder, PACKAGED_SCHEMA)) ? PACKAGED_SCHEMA : SCHEMA_URL;

export const withSchemaFor = (folder: string, text: string): string => text.replace(SCHEMA_URL, schemaFor(folder));

/** A minimal `vivarium.yaml` that verifies. Custom domains need the Pro plan, which `vivarium run` also uses. */
export function vivariumFile(entry: AppEntry, schema = SCHEMA_URL): string {
  const run = entry.run === null ? '' : `    run: ${yamlText(entry.run)}\n`;
  const domains = entry.hostname === null ? '' : `    domains:\n      ${yamlText(entry.hostname)}: {}\n`;
  return `# yaml-language-server: $schema=${schema}
vivarium: 1

projects:
  ${yamlText(slugOf(entry))}:
    name: ${yamlText(entry.name)}
    plan: pro
${run}${domains}${entry.hostname === null ? '' : zoneOf(entry.hostname)}`;
}

/** The zone and the record that `vivarium run` and `domain attach --local` create. */
function zoneOf(hostname: string): string {
  const apex = apexOf(hostname);
  const record = hostname === apex ? '@ ALIAS' : `${hostname.slice(0, -apex.length - 1)} CNAME`;
  return `
zones:
  ${yamlText(apex)}: |
    ${record} ${CNAME_TARGET}.
`;
}

/** Words that YAML 1.1 or 1.2 does not read as a string. */
const NO_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** Formats a string in YAML: plain if unambiguous, otherwise quoted as in JSON. */
const yamlText = (text: string): string =>
  /^[a-z][a-z0-9 .-]*(?<! )$/i.test(text) && !NO_TEXT.test(text) ? text : JSON.stringify(text);
