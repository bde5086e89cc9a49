import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { conflict, orElse } from '../contract/errors.ts';
import type { OpenedProvider } from '../contract/providers.ts';
import { type Environment, isExcluded, variableOf } from './ways.ts';
import { openChildrenProxy, type ProxyOptions } from './proxy.ts';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import tls, { createSecureContext, type SecureContext } from 'node:tls';
import { realTime } from '../base/clock.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { joinCertificates } from './extra-roots.mjs';

/** Variables that add to the roots of a program, and those that replace them. */
const ADDING = 'NODE_EXTRA_CA_CERTS';
const REPLACING = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'AWS_CA_BUNDLE'] as const;

/** Where distributions keep the roots of the system, in one file. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** How often the root's file is looked at. */
const LOOK_MS = 250;

interface RootsOptions {
  /** Private; its owner removes it. */
  folder: string;
  caFile: string;
  env: Environment;
  /** The emulated APIs of providers that the children reach. */
  providers?: readonly ChildProvider[];
}

/** What a connection to a provider’s emulated API adds: the answer of `providers.connect`. */
export type ChildProvider = Pick<OpenedProvider, 'provider' | 'hosts' | 'proxyUrl' | 'caFile' | 'variables' | 'unset'>;

/**
 * Writes files by which programs trust Vivarium's root besides the roots that they trusted before, and again when the
 * root changes.
 */
function openRoots({ folder, caFile, env, providers = [] }: RootsOptions) {
  const extra = join(folder, 'extra.pem');
  const all = join(folder, 'roots.pem');
  const php = join(folder, 'php');
  const before = [...REPLACING, ADDING].map((name) => readBefore(env[name]));
  const system = systemRoots();
  // Each has the root of a connection, which never changes; its file goes with the connection.
  const ofProviders = providers.map((each) => readBefore(each.caFile));
  let context: SecureContext | null = null;
  let written = '';
  const write = (): void => {
    const root = readBefore(caFile);
    // None is there between two versions.
    if (root === '' || root === written) return;
    writeFileAtomically(extra, joinCertificates([root, ...ofProviders, readBefore(env[ADDING])]), OWNER_ONLY);
    writeFileAtomically(all, joinCertificates([root, ...ofProviders, ...before, system]), OWNER_ONLY);
    context = null;
    written = root;
  };
  const follow = (): void => {
    try {
      write();
    } catch {
      // The next look tries again, when the disk has space.
    }
    timer = realTime.schedule(LOOK_MS, follow);
  };
  mkdirSync(php, { recursive: true, mode: 0o700 });
  // PHP has no variable for the roots of curl, but one for further settings.
  writeFileAtomically(join(php, 'vivarium.ini'), `curl.cainfo="${all}"\nopenssl.cafile="${all}"\n`, OWNER_ONLY);
  write();
  let timer = realTime.schedule(LOOK_MS, follow);
  return {
    variables: {
      [ADDING]: extra,
      ...Object.fromEntries(REPLACING.map((name) => [name, all])),
      PHP_INI_SCAN_DIR: `${env['PHP_INI_SCAN_DIR'] ?? ''}${delimiter}${php}`,
    },
    trust: (): SecureContext => (context ??= createSecureContext({ ca: readFileSync(all) })),
    close: () => timer.cancel(),
  };
}

const readBefore = (file: string | undefined): string =>
  orElse(() => (file === undefined ? '' : readFileSync(file, 'latin1')), '');

/** The roots of this system; Mozilla's, where it has none. */
function systemRoots(): string {
  const hasFile = process.platform !== 'win32' && process.platform !== 'darwin';
  const file = hasFile ? SYSTEM_FILES.find((path) => existsSync(path)) : undefined;
  if (file !== undefined) return readBefore(file);
  // Node 20 lacks the function.
  const found = 'getCACertificates' in tls ? tls.getCACertificates('system') : [];
  return (found.length > 0 ? found : tls.rootCertificates).join('\n');
}

/** What programs need to reach Vivarium's hostnames and trust its root, unchanged. */
export type Children = Awaited<ReturnType<typeof openChildren>>;

export interface ChildrenOptions extends RootsOptions, Omit<ProxyOptions, 'trust' | 'onBrowser' | 'reserved'> {
  /** Receives, each once, the reasons why a program does not reach the hostnames. */
  report?: (message: string) => void;
}

/** @throws VivariumError conflict when `NO_PROXY` covers a host of a provider, which would be the real one then */
export async function openChildren({ report, ...options }: ChildrenOptions) {
  const { providers = [], env } = options;
  for (const { hosts } of providers) refuseExcluded(hosts, env);
  const reported = new Set<string>();
  const reportOnce = (message: string): void => {
    if (!reported.has(message)) report?.(message);
    reported.add(message);
  };
  const roots = openRoots(options);
  const reserved = new Map(
    providers.flatMap(({ hosts, proxyUrl }) => hosts.map((host) => [host, credentialsOf(proxyUrl)])),
  );
  const onBrowser = (): void => reportOnce(BROWSER);
  const proxy = await openChildrenProxy({ ...options, reserved, trust: roots.trust, onBrowser });
  return {
    variables: Object.assign(
      { ...proxyVariables(proxy.url, options.env), ...roots.variables },
      ...providers.map(({ variables }) => variables),
    ) as Record<string, string>,
    /** Names that the children must not have: credentials for the real hosts of providers. */
    unset: providers.flatMap((each) => each.unset),
    refuse: proxy.refuse,
    /**
     * Reports a Node on the command's PATH that does not use the proxy.
     * @throws VivariumError conflict when the command runs that Node, which would reach the real host of a provider
     */
    async check(command: readonly string[], env: Environment): Promise<void> {
      const runsNode = command.some((word) => RUNS_NODE.test(word));
      const [real] = reserved.keys();
      const version = runsNode || real !== undefined ? await nodeVersion(command[0], env) : null;
      if (version === null || usesProxy(version)) return;
      const reason = oldNode(version);
      if (!runsNode || real === undefined) reportOnce(reason);
      else throw conflict(`${reason} This one would reach the real ${real}.`);
    },
    async close(): Promise<void> {
      roots.close();
      await proxy.close();
    },
  };
}

const credentialsOf = (proxyUrl: string): string => {
  const { username, password } = new URL(proxyUrl);
  return `${username}:${password}`;
};

function refuseExcluded(hosts: readonly string[], env: Environment): void {
  const list = variableOf(env, 'NO_PROXY');
  const covered = hosts.find((host) => isExcluded(list, host, 443));
  if (covered === undefined) return;
  const message =
    `NO_PROXY covers ${covered}, so the command would reach the real one. ` +
    `Start it without that entry: NO_PROXY="${list}".`;
  throw conflict(message);
}

/** Never proxied. `localhost` would exclude every name below it, so the proxy itself connects to that. */
const LOOPBACK = ['127.0.0.1', '::1', '[::1]'];

function proxyVariables(url: string, env: Environment): Record<string, string> {
  const kept = variableOf(env, 'NO_PROXY')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '' && !LOOPBACK.includes(entry) && !/^(?:\*?\.)?localhost$/i.test(entry));
  const values = { HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: [...LOOPBACK, ...kept].join(',') };
  return {
    ...values,
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value])),
    NODE_USE_ENV_PROXY: '1',
  };
}

const BROWSER =
  'A browser that the command started was refused by Vivarium’s proxy, because browsers do not send its token. ' +
  'Start it without HTTP_PROXY, HTTPS_PROXY and ALL_PROXY.';

const oldNode = (version: string): string =>
  `The command’s Node ${version} does not use a proxy by itself: fetch and http reach Vivarium’s hostnames from 22.21 and 24.5 on.`;

const RUNS_NODE = /(?:^|[\s/\\])(?:node|npm|npx|pnpm|yarn)(?:\.exe|\.cmd)?(?:\s|$)/;

async function nodeVersion(program = '', env: Environment): Promise<string | null> {
  try {
    const own = /(?:^|[/\\])node(?:\.exe)?$/.test(program) ? program : 'node';
    return (await promisify(execFile)(own, ['--version'], { env })).stdout.trim();
  } catch {
    return null;
  }
}

/** Whether `NODE_USE_ENV_PROXY` also affects `node:http`. */
function usesProxy(version: string): boolean {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}
