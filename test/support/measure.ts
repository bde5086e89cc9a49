/**
 * `npm run measure`: the size of the house. Lines with blanks and comments of the tracked files of a part; files, and
 * the fullest folders; the largest room inside `renderer`; the lengths of functions, in lines from head to end.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..', '..');
const COUNTED = /\.(ts|mts|mjs|svelte|css|html|sql|json)$/;
const SCRIPT = /<script[^>]*>([^]*?)<\/script>/;

interface Measured {
  path: string;
  text: string;
  lines: number;
}

const tracked = execFileSync('git', ['ls-files', 'main', 'preload', 'renderer', 'test'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => COUNTED.test(path));
const files: Measured[] = tracked.map((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { path, text, lines: text.split('\n').length - 1 };
});

const below = (folder: string): Measured[] => files.filter(({ path }) => path.startsWith(`${folder}/`));
const linesOf = (some: readonly Measured[]): number => some.reduce((sum, { lines }) => sum + lines, 0);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const thousands = (count: number): string => count.toLocaleString('en');

/** How many lines each function has, the longest first, without those of tests. */
function functionLengths(): { length: number; where: string }[] {
  const found: { length: number; where: string }[] = [];
  for (const { path, text } of [...below('main'), ...below('renderer')]) {
    if (!/\.(ts|mts|mjs|svelte)$/.test(path)) continue;
    const code = path.endsWith('.svelte') ? (SCRIPT.exec(text)?.[1] ?? '') : text;
    const source = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true);
    const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
        const first = lineAt(node.getStart());
        found.push({ length: lineAt(node.end) - first + 1, where: `${path}:${first + 1}` });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found.toSorted((a, b) => b.length - a.length);
}

function countedBy(some: readonly Measured[], keyOf: (path: string) => string): [string, Measured[]][] {
  return [...Map.groupBy(some, ({ path }) => keyOf(path))];
}

/** A page, or one of the other folders of the window: `renderer/pages/dns`, `renderer/shared`. */
const roomOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('renderer/pages/') ? 3 : 2)
    .join('/');

const parts = ['main', 'preload', 'renderer', 'test'].map((part) => [part, below(part)] as const);
for (const [part, some] of parts) say(`${part}: ${thousands(linesOf(some))} lines in ${some.length} files`);
say(`together: ${thousands(linesOf(files))} lines`);

const folders = countedBy(files, dirname)
  .filter(([folder]) => folder !== 'main/contract')
  .toSorted(([, a], [, b]) => b.length - a.length);
say(
  `fullest folders: ${folders
    .slice(0, 5)
    .map(([folder, some]) => `${folder} ${some.length}`)
    .join(', ')}`,
);

const renderer = below('renderer');
const [largest] = countedBy(renderer, roomOf).toSorted(([, a], [, b]) => linesOf(b) - linesOf(a));
if (largest !== undefined) {
  const share = Math.round((100 * linesOf(largest[1])) / linesOf(renderer));
  say(`largest room of renderer: ${largest[0]}, ${share} %`);
}

const lengths = functionLengths();
const p99 = lengths[Math.floor(lengths.length / 100)];
const over = lengths.filter(({ length }) => length > 120);
say(`functions: ${thousands(lengths.length)}, p99 ${p99?.length} lines, ${over.length} over 120 lines:`);
for (const { length, where } of over) say(`  ${length} ${where}`);
