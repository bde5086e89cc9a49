import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PROVIDERS } from '../../../main/contract/provider-table.ts';
import { createOperations } from '../../../main/providers/operations.ts';
import type { Provider } from '../../../main/providers/provider.ts';

/** `METHOD path` of the calls that an official client has made, and that were answered with success. */
export type Driven = Set<string>;

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'providers.md');

/**
 * Compares what an official client has driven with what a provider says, and its part of the coverage page with what it
 * should be. `UPDATE=1` writes it.
 */
export function checkCoverage(client: string, provider: Provider, driven: Driven): void {
  const find = createOperations(provider);
  const names = new Set(
    [...driven].flatMap((call) => {
      const [method = '', path = ''] = call.split(' ');
      const found = find(method, path);
      return found.kind === 'operation' ? [found.operation.name] : [];
    }),
  );
  const wanted = provider.operations.filter((each) => each.missing === undefined && each.drivenBy === undefined);
  expect([...names].toSorted()).toEqual(wanted.map(({ name }) => name).toSorted());
  const part = partOf(client, provider);
  const [begin, end] = [`<!-- ${provider.id} -->`, `<!-- /${provider.id} -->`];
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(begin);
  const expected = `${before}${begin}\n${part}${end}${rest.split(end)[1] ?? ''}`;
  if (process.env['UPDATE'] === '1') writeFileSync(PAGE, expected);
  else expect(page, 'the page is of another state: UPDATE=1').toBe(expected);
}

function partOf(client: string, provider: Provider): string {
  const { id, operations, unsettled } = provider;
  const made = operations.filter(({ missing }) => missing === undefined);
  const others = [...new Set(made.flatMap(({ drivenBy }) => drivenBy ?? []))];
  const rows = operations.map(({ name, method, path, missing, drivenBy }) => {
    const how = missing ?? (drivenBy === undefined ? 'yes' : `by ${drivenBy}`);
    return `| \`${name}\` | \`${method} ${path}\` | ${how} |`;
  });
  return [
    `## ${PROVIDERS[id].title}`,
    '',
    `**${made.length} of ${operations.length} operations are driven by ${[client, ...others].join(' and ')}.**`,
    '',
    '| Operation | Method and path | Driven |',
    '|---|---|---|',
    ...rows,
    '',
    'Not settled by an official source, with the choice made here:',
    '',
    ...unsettled.map((each) => `- ${each}`),
    '',
  ].join('\n');
}
