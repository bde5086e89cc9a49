import { COMMANDS } from '../../../main/cli/words/commands.ts';
import { generalHelp, procedureHelp, titleOf } from '../../../main/cli/words/help.ts';
import { listNamespaces, listProcedures } from '../../../main/cli/words/procedures.ts';

/** Where defaults of the help come from: paths are those of Linux. */
const PLACE = { platform: 'linux', env: {}, homeDir: '~' } as const;

/** The options that every procedure accepts; the reference lists them once. */
const COMMON_OPTIONS = /\nOptions\n(?: {2}.*\n)+/;

/** Replaces what is not a word by a hyphen, as GitHub does in the anchor of such a heading. */
const anchorOf = (words: string): string => words.toLowerCase().replaceAll(' ', '-');

const text = (help: string): string => `\`\`\`text\n${help.trim()}\n\`\`\``;

/** `docs/reference/commands.md`: the help of every command and of every procedure of the contract. */
export async function makeReference(): Promise<string> {
  const commands = await Promise.all(
    COMMANDS.filter(({ name }) => name !== 'help').map(async ({ name, load }) => {
      const { help } = await load();
      return `### ${name}\n\n${text(help(PLACE))}`;
    }),
  );
  const namespaces = listNamespaces().map((namespace) => {
    const procedures = listProcedures(namespace).map((procedure) => {
      const title = titleOf(procedure);
      return { title, summary: procedure.summary, help: procedureHelp(procedure).replace(COMMON_OPTIONS, '') };
    });
    const list = procedures.map(({ title, summary }) => `- [${title}](#${anchorOf(title)}): ${summary}`).join('\n');
    const helps = procedures.map(({ title, help }) => `### ${title}\n\n${text(help)}`).join('\n\n');
    return `## The namespace ${namespace}\n\n${list}\n\n${helps}`;
  });
  return `# Reference of the commands

<!-- Made by "npm run reference" from the contract and the table of commands. A test compares it with both. -->

This is what \`vivarium help --all\` prints, and then the help of each command. In the clone's folder, \`npm run -s vivarium --\` takes the place of
\`vivarium\`. Scripts can also send a \`POST\` to the [control port](addresses.md#the-control-port).

${text(generalHelp(COMMANDS))}

## Commands

${commands.join('\n\n')}

${namespaces.join('\n\n')}
`;
}
