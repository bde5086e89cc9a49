import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeLlms } from '../support/documents/llms.ts';
import { commandsOf, GUIDES, README } from '../support/documents/pasted-documents.ts';
import { makeBreakTables } from '../support/breaks/break-tables.ts';
import { makeBrokenTlsPage } from '../support/broken-tls-page.ts';
import { makeReference } from '../support/documents/reference.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const IMAGES = 'docs/images';

const KILOBYTE = 1_000;
const README_LINES_MAX = 90;
/** The maximum at which a page with several of them still loads quickly. */
const IMAGE_BYTES_MAX = 150 * KILOBYTE;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every document of the repository, by its path. */
const documents = new Map(
  ['', 'docs', 'main', 'renderer', 'preload', 'test', 'resources']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: folder !== '' })
        .map((name) => join(folder, String(name)).replaceAll('\\', '/'))
        .filter((path) => path.endsWith('.md')),
    )
    .map((path) => [path, read(path)]),
);

const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, 'code');

/**
 * The anchors that GitHub gives the headings of a document: lower case, words joined by hyphens, without other marks.
 */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let number = 1; anchors.has(unique); number++) unique = `${anchor}-${number}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The link targets of a document within the repository, including pictures. */
const linksOf = (text: string): string[] =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, link, source]) => link ?? source ?? '')
    .filter((link) => !/^[a-z]+:/.test(link));

/** The number of cells of a table's row: a pipe separates them in code too, unless it is escaped (GFM, 4.10). */
const cellsOf = (row: string): number =>
  row
    .trim()
    .replaceAll(/^\||\|$/g, '')
    .split(/(?<!\\)\|/).length;

/** The lines below the head of a table, up to the first empty one, that are no row like it. */
function brokenRows(text: string): string[] {
  const blocks = text
    .trimEnd()
    .replaceAll(/^( *)```[^]*?^\1```/gm, '')
    .split(/\n\s*\n/);
  return blocks.flatMap((block) => {
    const lines = block.split('\n');
    const rule = lines.findIndex((line) => /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/.test(line));
    const head = lines[rule - 1];
    if (head === undefined) return [];
    return lines.slice(rule).filter((line) => !/^\s*\|.*\|\s*$/.test(line) || cellsOf(line) !== cellsOf(head));
  });
}

function brokenLink(from: string, link: string): string | null {
  const [target = '', anchor] = link.split('#');
  const path = target === '' ? from : normalize(join(dirname(from), target)).replaceAll('\\', '/');
  if (!existsSync(join(ROOT, path))) return `${from}: ${link} is not there`;
  if (anchor === undefined || anchorsOf(documents.get(path) ?? '').has(anchor)) return null;
  return `${from}: ${path} has no heading #${anchor}`;
}

/** The lines of a document's blocks of shell commands. */
const shellLines = (text: string, language = 'sh'): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].flatMap(([, block = '']) =>
    block.split('\n'),
  );

describe('the documents', () => {
  it('link to existing files and headings', () => {
    const broken = [...documents].flatMap(([path, text]) => linksOf(text).map((link) => brokenLink(path, link)));
    expect(broken.filter((problem) => problem !== null)).toEqual([]);
  });

  it('count the cases of the benchmarks, and have a result of each', () => {
    const [, table = ''] =
      /const CASES[^{]*\{([^}]*)\}/.exec(readFileSync(join(ROOT, 'test/bench/main.ts'), 'utf8')) ?? [];
    const cases = [...table.matchAll(/\w+/g)].map(([name]) => name);
    const page = read('docs/reference/benchmarks.md');
    const results = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));
    expect(page).toContain(`in ${cases.length} cases:`);
    expect([...results].toSorted()).toEqual(cases.toSorted());
  });

  it('have tables whose rows all have as many cells as the head, with an empty line after them', () => {
    const found = [...documents].flatMap(([path, text]) => brokenRows(text).map((row) => `${path}: ${row}`));
    expect(found).toEqual([]);
    expect(brokenRows('| a | b |\n|---|---|\n| `x|y` | 2 |\n| `x\\|y` | 2 |\n| 1 |\nAnd on.\n\nFree | text')).toEqual([
      '| `x|y` | 2 |',
      '| 1 |',
      'And on.',
    ]);
  });

  it('begin with a short README: a sentence, the change of one line, the way there, and all guides', () => {
    const readme = read(README);
    const [, sentence = ''] = readme.split('\n\n');
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
    expect(sentence.split(/\s+/).length).toBeLessThanOrEqual(20);
    expect(readme.indexOf('```diff')).toBeLessThan(readme.indexOf('## '));
    expect(commandsOf(README).slice(0, 2)).toEqual([
      'npm link',
      expect.stringMatching(/^vivarium run app\.acme\.test /),
    ]);
    const guides = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    expect([...GUIDES].toSorted()).toEqual(guides.map((name) => `docs/${name}`).toSorted());
    expect(GUIDES).toHaveLength(15);
  });

  it.each([...documents.keys()].filter((path) => /^(?:docs\/.*|README)\.md$/.test(path)))(
    '%s has shell lines that can be pasted into every shell, on every system',
    (path) => {
      const unfit = shellLines(documents.get(path) ?? '').filter(
        (line) => /(?:^|\s)#/.test(line) || line.split("'").length % 2 === 0 || /\.local\/share|\/tmp\//.test(line),
      );
      expect(unfit).toEqual([]);
    },
  );

  // The ACME clients of that guide are programs for Linux.
  it.each(GUIDES.filter((guide) => guide !== 'docs/acme.md'))(
    '%s has a variant for PowerShell if its lines use the syntax of other shells',
    (guide) => {
      const text = documents.get(guide) ?? '';
      const posix = shellLines(text).filter((line) => /^export |\$\(/.test(line));
      const set = (line: string) => /\b(?:\$env:)?([A-Z_]+) ?=/.exec(line)?.[1];
      expect(shellLines(text, 'powershell').map(set).filter(Boolean)).toEqual(posix.map(set));
    },
  );

  it('put a dev server behind a hostname with two short commands', () => {
    const [, create = '', attach = ''] = commandsOf('docs/put-my-app-behind-it.md');
    expect(attach).toContain(' app.acme.test ');
    expect(`${create}\n${attach}`.length).toBeLessThanOrEqual(110);
  });

  it('have small pictures in both themes, and no unused ones', () => {
    const shown = new Set(
      [...documents].flatMap(([path, text]) => linksOf(text).map((link) => normalize(join(dirname(path), link)))),
    );
    const files = readdirSync(join(ROOT, IMAGES)).map((name) => join(IMAGES, name));
    expect(files.filter((file) => !shown.has(normalize(file)))).toEqual([]);
    expect(files.filter((file) => statSync(join(ROOT, file)).size > IMAGE_BYTES_MAX)).toEqual([]);
    const themes = (suffix: string) => files.filter((file) => file.includes(suffix)).map((file) => file.split('-')[0]);
    expect(themes('-light.')).toEqual(themes('-dark.'));
  });

  it('contain the current reference of the commands; if not, run "npm run reference"', async () => {
    expect(read('docs/reference/commands.md')).toBe(await makeReference());
    expect(read('docs/reference/broken-tls.md')).toBe(makeBrokenTlsPage());
  });

  it('contain the catalogue’s current text about breaks; if not, run "npm run reference"', () => {
    expect(read('docs/reference/break-it-clients.md')).toBe(makeBreakTables());
  });

  it('contain an up-to-date list for assistants; if not, run "npm run reference"', () => {
    expect(read('docs/llms.txt')).toBe(makeLlms());
    expect(
      linksOf(makeLlms())
        .map((link) => brokenLink('docs/llms.txt', link))
        .filter(Boolean),
    ).toEqual([]);
  });
});
