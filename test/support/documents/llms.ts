import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The documents in the order of the README, which lists the guides first; then those that it does not name. */
function listDocuments(readme: string): string[] {
  const named = [...readme.matchAll(/\]\(docs\/((?:reference\/)?[\w-]+\.md)/g)].map(([, file = '']) => file);
  const there = readdirSync(join(ROOT, 'docs'), { recursive: true })
    .map((file) => String(file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md'));
  return [...new Set([...named, ...there.toSorted()])];
}

/** A document's title, and the first sentence of its text without markup. */
function summaryOf(file: string): string {
  const text = readFileSync(join(ROOT, 'docs', file), 'utf8').replaceAll(/<!--[^]*?-->\n/g, '');
  const [title = '', ...paragraphs] = text.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
  const prose = (paragraphs[0] ?? '').replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)|`([^`]*)`/g, '$1$2');
  return `- [${title.replace(/^# /, '')}](${file}): ${/^.*?[.:](?= |$)/.exec(prose)?.[0].replace(/:$/, '.') ?? prose}`;
}

/** `docs/llms.txt` (llmstxt.org): what an assistant reads first, generated from the README and the documents. */
export function makeLlms(): string {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, intro = ''] = /^# Vivarium\n\n([^]*?)\n\n/.exec(readme) ?? [];
  return `# Vivarium

> ${intro.replaceAll('\n', ' ')}

\`vivarium run app.acme.test -- npm run dev\` serves a dev server at its hostname over HTTPS. \`vivarium help COMMAND\` prints
its part of the reference; commands of procedures take \`--json\`. \`vivarium mcp\` has common tasks as tools of the Model Context Protocol.

## Documents

${listDocuments(readme).map(summaryOf).join('\n')}

## Optional

- [README](../README.md): what it is, and how to install it.
- [Changes](../CHANGELOG.md): what users notice of each change.
`;
}
