import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The operations of the SDK, as `METHOD path name`, sorted by path. */
export function readVercelOperations(sdkFolder: string): string[] {
  const folder = join(sdkFolder, 'src', 'funcs');
  const operations = readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const path = /pathToFunc\(\s*"([^"]+)"/.exec(text)?.[1];
    const method = /method: "([A-Z]+)"/.exec(text)?.[1];
    const name = /operationID:\s*"([^"]+)"/.exec(text)?.[1];
    if (path === undefined || method === undefined || name === undefined) throw new Error(`${file} has no operation.`);
    return { line: `${method} ${path} ${name}`, path };
  });
  return operations.sort((one, other) => (one.path < other.path ? -1 : 1)).map(({ line }) => line);
}
