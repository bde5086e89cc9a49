import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Specification {
  basePath: string;
  paths: Readonly<Record<string, Readonly<Record<string, { operationId?: string }>>>>;
}

/** The operations of the specification, as `METHOD path name`, sorted by path. */
export function readNetlifyOperations(specificationFolder: string): string[] {
  const text = readFileSync(join(specificationFolder, 'dist', 'swagger.json'), 'utf8');
  const { basePath, paths } = JSON.parse(text) as Specification;
  return Object.keys(paths)
    .toSorted()
    .flatMap((path) =>
      Object.entries(paths[path] ?? {}).flatMap(([method, { operationId }]) =>
        operationId === undefined ? [] : [`${method.toUpperCase()} ${basePath}${path} ${operationId}`],
      ),
    );
}
