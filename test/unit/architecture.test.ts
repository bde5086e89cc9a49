import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** The import rules of the architecture, as a test: each failure names the line and where the code belongs. */
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The lower floors: the contract and base, and the nouns and pure rules that the machines share. */
const BELOW = ['model', 'base', 'contract'] as const;

/** The machines do not import each other; what two of them need is in `model`. */
const MACHINES = [
  ...['ratelimit', 'dns', 'ca', 'acme', 'store', 'domains', 'api', 'proxy', 'traffic', 'manners', 'providers'],
  ...['reach', 'machine', 'children', 'world', 'lan', 'breaks', 'drills', 'doctor', 'rpc'],
] as const;

/** What each part of `main` may import; a name with a slash is a file. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  contract: [],
  base: ['contract'],
  model: ['base', 'contract'],
  ...Object.fromEntries(MACHINES.map((machine) => [machine, BELOW])),
  // Of the machines, only types and pure rules: a test below defines pure.
  services: [...BELOW, ...MACHINES],
  composition: [...BELOW, ...MACHINES, 'services'],
  // What is done without an engine: the doctor, the check of a vivarium.yaml, a data folder that no engine uses. Of the
  // command line’s parts, the only one that may import machines.
  offline: [...BELOW, ...MACHINES, 'services', 'composition'],
  app: [...BELOW, ...MACHINES, 'services', 'composition', 'offline'],
  // What runs an app, however it is started: a new start after a failure, the banner.
  host: ['app', 'contract', 'base'],
  // What a rehearsal does and how it is reported; the command line runs it.
  // A year of renewals follows the rules of the ACME server, which are pure.
  rehearsal: [...BELOW, 'main/acme/profiles.ts', 'main/acme/profiles.ts'],
  // Tests under a table of faults; the command line and the package run it.
  examine: BELOW,
  // A file is also read and written without an engine. Answers to assistants contain no secrets, by Traffic's pure rule.
  cli: [
    ...['offline', 'children', 'world', 'rehearsal', 'examine', 'contract', 'base', 'main/traffic/redact.ts'],
    ...['main/traffic/secret-names.ts', 'main/acme/profiles.ts', 'main/acme/resources.ts'],
    'main/domains/public-suffix.ts',
  ],
  // An engine in another program's process.
  embed: ['app', 'offline', 'children', 'cli', 'examine', 'contract', 'base'],
  headless: ['app', 'host', 'contract', 'base'],
  electron: ['app', 'host', 'rpc', 'contract', 'base'],
  vivarium: ['cli', 'headless'],
  desktop: ['electron', 'cli', 'headless', 'app', 'host', 'contract', 'base'],
  preload: [],
  // JSON in pieces, requests as code and the words of commands, which page and engine both write; a test asserts that
  // they run in the page.
  renderer: ['contract', 'main/base/text/exact-json.ts', 'main/base/text/request-code.ts', 'main/base/text/shell.ts'],
};

const ADVICE: Record<string, string> = {
  contract: 'the contract runs in the browser too; move what needs Node into main/base or the part that uses it',
  base: 'main/base is below everything; move the code into the part that it imports from',
  model: 'the nouns and rules that machines share know none of the machines',
  composition: 'only the parts meet there; what runs them is above, in main/app.ts',
  app: 'what is wired of one noun goes into main/composition',
  renderer: 'the page reaches the engine through the contract’s client only',
};
const DEFAULT_ADVICE =
  'a noun or a pure rule that two machines share goes into main/model; for the rest, declare the small interface that ' +
  'you need in your own folder, and let main/composition pass the implementation in';

interface SourceFile {
  path: string;
  text: string;
}

function sources(folder: string, extensions: readonly string[]): SourceFile[] {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension)))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') };
    });
}

const engine = sources('main', ['.ts', '.mjs']);
const everything = [...engine, ...sources('preload', ['.ts']), ...sources('renderer', ['.ts', '.svelte'])];
const byPath = new Map(engine.map((file) => [file.path, file]));
const tests = sources('test', ['.ts']);

/** The part of the architecture that a file belongs to: `main/dns/zones/zone.ts` is `dns`, `main/app.ts` is `app`. */
function partOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  if (top !== 'main') return top;
  return second.replace(/\.[cm]?[jt]s$/, '');
}

interface Import {
  from: string;
  specifier: string;
  typeOnly: boolean;
}

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm;

function importsOf(file: SourceFile): Import[] {
  return [...file.text.matchAll(IMPORT)].map((match) => ({
    from: file.path,
    specifier: match[2] ?? match[3] ?? '',
    typeOnly: match[1] !== undefined,
  }));
}

const valueImportsOf = (file: SourceFile): string[] =>
  importsOf(file).flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : [specifier]));

/** Modules without side effects; any other foreign module opens or starts something. */
const PURE_MODULES: ReadonlySet<string> = new Set([
  'node:buffer',
  'node:crypto',
  'node:url',
  'node:util',
  'node:zlib',
  'tldts',
  'yaml',
]);

/** The impure modules that a file of ours reaches through all of its imports. */
function effectsBehind(path: string, seen = new Set<string>()): string[] {
  const file = byPath.get(path);
  if (file === undefined || seen.has(path)) return [];
  seen.add(path);
  return valueImportsOf(file).flatMap((specifier) => {
    if (isRelative(specifier)) return effectsBehind(resolve(path, specifier), seen);
    if (PURE_MODULES.has(specifier) || /^zod|^@orpc/.test(specifier)) return [];
    // `isIP` and its like are text rules.
    if (specifier === 'node:net' && /import \{ (?:isIP\w*(?:, )?)+ \} from 'node:net'/.test(file.text)) return [];
    return [`${specifier} (${path})`];
  });
}

const isRelative = (specifier: string): boolean => specifier.startsWith('.');
const resolve = (file: string, specifier: string): string => join(dirname(file), specifier).split(sep).join('/');

describe('imports', () => {
  it('follow the architecture', () => {
    const wrong = everything.flatMap(importsOf).flatMap(({ from, specifier }) => {
      if (!isRelative(specifier)) return [];
      const part = partOf(from);
      const path = resolve(from, specifier);
      const to = partOf(path);
      const allowed = MAY_IMPORT[part] ?? [];
      if (to === part || to === 'resources' || allowed.includes(to) || allowed.includes(path)) return [];
      return [`${from} imports ${specifier} (${to}): ${ADVICE[part] ?? DEFAULT_ADVICE}.`];
    });
    expect(wrong).toEqual([]);
  });

  it('do not occur in what the page shares with the engine', () => {
    const shared = engine.filter(({ path }) => MAY_IMPORT.renderer?.includes(path));
    const inPage = ['main/base/text/exact-json.ts', 'main/base/text/request-code.ts', 'main/base/text/shell.ts'];
    expect(shared.map(({ path }) => path)).toEqual(inPage);
    expect([...new Set(shared.flatMap(valueImportsOf))].toSorted()).toEqual(['./shell.ts']);
  });

  it('cover every part of main', () => {
    const unknown = engine.map((file) => file.path).filter((path) => MAY_IMPORT[partOf(path)] === undefined);
    expect(unknown, 'add the part to the table above, and to the README').toEqual([]);
  });

  it('of machines by services are types or pure rules, which open no socket, file or process', () => {
    const wrong = engine
      .filter(({ path }) => partOf(path) === 'services')
      .flatMap((file) =>
        valueImportsOf(file)
          .map((specifier) => resolve(file.path, specifier))
          .filter((path) => MACHINES.some((machine) => machine === partOf(path)))
          .flatMap((path) => effectsBehind(path).map((effect) => `${file.path} imports ${path}, which uses ${effect}`)),
      );
    expect(wrong, 'let main/composition pass it in, or import the file of the pure rule').toEqual([]);
  });

  it('of upstream-only modules are deferred to the first upstream', () => {
    const loaded = new Set<string>();
    const load = (path: string): void => {
      const file = byPath.get(path);
      if (file === undefined || loaded.has(path)) return;
      loaded.add(path);
      for (const { specifier, typeOnly } of importsOf({ path, text: file.text.replace(/\bimport\(/g, '') })) {
        if (!typeOnly) load(isRelative(specifier) ? resolve(path, specifier) : specifier);
      }
    };
    load('main/app.ts');
    expect(loaded).toContain('main/proxy/upstream/upstream.ts');
    const heavy = [...byPath].filter(([, { text }]) => /^import \{.*'(?:undici|http-proxy)'/m.test(text));
    expect(heavy.length).toBeGreaterThan(0);
    expect(heavy.map(([path]) => path).filter((path) => loaded.has(path))).toEqual([]);
  });

  it('of electron stay in main/electron and preload', () => {
    const wrong = everything
      .flatMap(importsOf)
      .filter(({ from, specifier }) => specifier === 'electron' && !/^(main\/electron|preload)\//.test(from))
      .map(({ from }) => `${from} imports electron; pass what it needs in from main/electron.`);
    expect(wrong).toEqual([]);
  });

  it('carry their file extension, so that Node runs the sources unchanged', () => {
    const wrong = [...engine, ...tests]
      .flatMap(importsOf)
      .filter(({ specifier }) => isRelative(specifier) && !/\.(ts|mjs|json|svelte)$/.test(specifier))
      .map(({ from, specifier }) => `${from}: ${specifier}`);
    expect(wrong).toEqual([]);
  });
});

describe('the rooms', () => {
  /** What each room of the page may import of the others; `app` may import them all. */
  const ROOMS: Record<string, readonly string[]> = {
    pages: ['shared', 'connection'],
    shared: ['connection'],
    connection: ['shared/time'],
  };

  it('of the page import what is below them, and pages never each other', () => {
    const wrong = everything.flatMap(importsOf).flatMap(({ from, specifier }) => {
      const [top, room = '', page] = from.split('/');
      const allowed = ROOMS[room];
      if (top !== 'renderer' || allowed === undefined || !isRelative(specifier)) return [];
      const own = room === 'pages' ? `pages/${page}` : room;
      const path = resolve(from, specifier);
      if (path.startsWith('main/') || [own, ...allowed].some((may) => path.startsWith(`renderer/${may}/`))) return [];
      return [`${from} imports ${specifier}: what two pages use belongs into renderer/shared.`];
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['main', 25],
    ['renderer', 25],
    ['test', 40],
  ])('of %s have at most %i files directly in a folder', (top, max) => {
    const full = [...Map.groupBy(sources(top, ['.ts', '.mjs', '.svelte', '.css']), ({ path }) => dirname(path))]
      // A file a namespace.
      .filter(([folder, inside]) => inside.length > max && folder !== 'main/contract')
      .map(([folder, inside]) => `${folder} has ${inside.length} files; divide it by what they are about`);
    expect(full).toEqual([]);
  });

  it('of main hold everything but the app and its entries', () => {
    const alone = engine.map(({ path }) => path).filter((path) => path.split('/').length === 2);
    expect(alone).toEqual(['main/app.ts', 'main/desktop.ts', 'main/headless.ts', 'main/vivarium.ts']);
  });
});

describe('import cycles', () => {
  it('do not exist in main, preload and renderer, including type-only imports', () => {
    // A component may be recursive.
    const isCounted = (from: string, target: string): boolean => !(from === target && from.endsWith('.svelte'));
    const targets = new Map(
      everything.map((file) => [
        file.path,
        importsOf(file)
          .flatMap(({ specifier }) => (isRelative(specifier) ? [resolve(file.path, specifier)] : []))
          .filter((target) => isCounted(file.path, target)),
      ]),
    );
    const found = cyclesIn([...targets.keys()].sort(), (path) => targets.get(path) ?? []);
    expect(found, 'move what both need into a file of its own, or into main/model').toEqual([]);
  });

  it.each([
    ['a chain', { a: ['b'], b: ['c'], c: [] }, []],
    ['two files', { a: ['b'], b: ['a', 'c'], c: [] }, [['a', 'b']]],
    ['a longer way round', { a: ['b'], b: ['c'], c: ['d'], d: ['b'] }, [['b', 'c', 'd']]],
    ['a file that imports itself', { a: ['a'] }, [['a']]],
    ['a diamond', { a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }, []],
  ])('are detected: %s', (_name, graph: Record<string, string[]>, cycles) => {
    expect(cyclesIn(Object.keys(graph), (node) => graph[node] ?? [])).toEqual(cycles);
  });
});

/** Groups of files that reach one another, in alphabetical order: strongly connected components (Tarjan, 1972). */
function cyclesIn(nodes: readonly string[], targets: (node: string) => readonly string[]): string[][] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    const number = order.size;
    let low = number;
    order.set(node, number);
    open.push(node);
    for (const target of targets(node)) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === number) {
      const group = open.splice(open.indexOf(node)).sort();
      if (group.length > 1 || targets(node).includes(node)) cycles.push(group);
    }
    return low;
  };
  for (const node of nodes) if (!order.has(node)) visit(node);
  return cycles;
}

describe('the real clock', () => {
  const REAL_CLOCK =
    /\bDate\.now\b|\bnew Date\(\s*\)|(?<![.\w])Date\(\)|\bperformance\.now\b|(?<![.\w])set(?:Timeout|Interval)\s*\(|\bnode:timers\b|\bprocess\.hrtime\b|\bprocess\.uptime\b/;

  it('is read only in main/base/clock.ts', () => {
    const wrong = engine
      // The launcher runs before anything is installed, and never in the engine.
      .filter(({ path }) => path !== 'main/base/clock.ts' && !/^main\/cli\/(?:launch\/)?[\w-]+\.mjs$/.test(path))
      .flatMap((file) =>
        file.text
          .split('\n')
          .flatMap((line, index) =>
            REAL_CLOCK.test(line)
              ? [`${file.path}:${index + 1} reads the real clock; take a Clock, and use now(), at() or realTimer().`]
              : [],
          ),
      );
    expect(wrong).toEqual([]);
  });

  it('is not slept on by tests', () => {
    const wrong = tests
      .filter((file) => !file.path.startsWith('test/bench/'))
      .flatMap((file) =>
        file.text
          .split('\n')
          .flatMap((line, index) =>
            /new Promise\(.*setTimeout|timers\/promises|\.sleep\(/.test(line)
              ? [`${file.path}:${index + 1} sleeps; wait for the event, or pass time with the fake clock.`]
              : [],
          ),
      );
    expect(wrong.filter((line) => !line.startsWith('test/unit/architecture'))).toEqual([]);
  });
});

describe('the tests of pages', () => {
  /** Values that are final at the first read: a process that has ended, a request, a saved file. */
  const AWAITED =
    /\.ended\b|\bengine\.api\(|\bdownload(?:ing\)|\()|\breadFile\(|\b(?:pasteCopied|signInWith|quit|nextDialog|clickNotification)\(|\bPromise\.all\(printed\)/;

  it('poll pages until they show the expected value', () => {
    const wrong = tests
      .filter((file) => file.path.startsWith('test/e2e/'))
      .flatMap((file) =>
        [...file.text.matchAll(/(?<![.\w])expect\(([^;]*?)\)\s*\.(?:not\.)?to[A-Z]/g)]
          .filter(([, read = '']) => /\bawait\b|\.url\(\)/.test(read) && !AWAITED.test(read))
          .map(([, read = '']) => `${file.path} reads ${read.trim()} once; write expect.poll(() => …)`),
      );
    expect(wrong).toEqual([]);
  });

  it('do not wait for a function in the page, whose policy forbids the eval that polls it', () => {
    const wrong = tests.filter((file) => /\.waitForFunction\(/.test(file.text)).map((file) => file.path);
    expect(wrong, 'write expect.poll(() => page.evaluate(…))').toEqual([]);
  });
});

describe('the tree', () => {
  it('contains no leftovers', () => {
    const MARKS = new RegExp(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].map((mark) => `\\b${mark}\\b`).join('|'));
    const wrong = [...everything, ...tests].filter((file) => MARKS.test(file.text)).map((file) => file.path);
    expect(wrong, 'finish it, or open an issue').toEqual([]);
  });

  it('contains every relative path that its READMEs name', () => {
    const readmes = [
      ...sources('main', ['README.md']),
      ...sources('docs', ['.md']),
      { path: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8') },
    ];
    const wrong = readmes.flatMap((file) =>
      [...file.text.matchAll(/`((?:main|test|resources|renderer|preload)\/[\w./-]+)`/g)]
        .map((match) => match[1] ?? '')
        .filter((path) => !existsPath(path))
        .map((path) => `${file.path} names ${path}, which is not there`),
    );
    expect(wrong).toEqual([]);
  });

  it('contains nothing named "utils"', () => {
    const wrong = everything.map((file) => file.path).filter((path) => /\b(utils?|helpers?|misc|common)\b/i.test(path));
    expect(wrong, 'name the file after what is in it').toEqual([]);
  });
});

function existsPath(path: string): boolean {
  try {
    readFileSync(join(root, path));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR';
  }
}
