import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The operations of the SDK, as `METHOD path name`. */
export function readVercelOperations(sdkFolder: string): string[] {
  const folder = join(sdkFolder, 'src', 'funcs');
  return readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const path = /pathToFunc\(\s*"([^"]+)"/.exec(text)?.[1];
    const method = /method: "([A-Z]+)"/.exec(text)?.[1];
    const name = /operationID:\s*"([^"]+)"/.exec(text)?.[1];
    if (path === undefined || method === undefined || name === undefined) throw new Error(`${file} has no operation.`);
    return `${method} ${path} ${name}`;
  });
}

/** The resources that Vivarium's part of the API belongs to. */
const FOLDERS = ['custom-hostnames', 'zones', 'dns'];

/** The operations of those resources in the library, as `METHOD path name`. */
export function readCloudflareOperations(library: string): string[] {
  const resources = join(library, 'resources');
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(resources, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ).filter((file) => file.endsWith('.js') && !file.endsWith('index.js'));
  return files.flatMap((file) => {
    const text = readFileSync(join(resources, file), 'utf8');
    const key = /_key = Object\.freeze\(\[([^\]]*)\]\)/.exec(text)?.[1] ?? '';
    const resource = [...key.matchAll(/'(\w+)'/g)].map(([, name]) => name).join('.');
    const calls =
      /^ {8}(\w+)\([^)]*\) \{\n(?:(?! {8}\}).*\n)*?.*?_client\.(\w+)\(\s*(?:\(0, \w+\.path\) )?[`']([^`']+)/gm;
    return [...text.matchAll(calls)].map(([, name, call = '', given = '']) => {
      const path = given.replaceAll(/\$\{(\w+)\}/g, (_, each: string) => `{${snake(each)}}`);
      return `${call === 'getAPIList' ? 'GET' : call.toUpperCase()} /client/v4${path} ${resource}.${name}`;
    });
  });
}

const snake = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
