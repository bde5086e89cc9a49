import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CNAME_TARGET } from '../../base/config.ts';
import { slugify } from '../../contract/hostnames.ts';
import { apexOf } from '../../domains/public-suffix.ts';
import { SCHEMA_FILE, SCHEMA_URL } from '../../world/schema.ts';

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
