import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Environment, variableOf } from './proxies-before.ts';
import { openChildrenProxy, type ProxyOptions } from './proxy.ts';
import { openRoots, type RootsOptions } from './roots.ts';

/** What programs need to reach Vivarium's hostnames and trust its root, unchanged. */
export interface Children {
  variables: Record<string, string>;
  /** Reports a Node on the command's PATH that does not use the proxy. */
  check(command: readonly string[], env: Environment): Promise<void>;
  close(): Promise<void>;
}

export interface ChildrenOptions extends RootsOptions, Omit<ProxyOptions, 'trust' | 'onBrowser'> {
  /** Receives, each once, the reasons why a program does not reach the hostnames. */
  report?: (message: string) => void;
}

export async function openChildren({ report, ...options }: ChildrenOptions): Promise<Children> {
  const reported = new Set<string>();
  const reportOnce = (message: string): void => {
    if (!reported.has(message)) report?.(message);
    reported.add(message);
  };
  const roots = openRoots(options);
  const proxy = await openChildrenProxy({ ...options, trust: roots.trust, onBrowser: () => reportOnce(BROWSER) });
  return {
    variables: { ...proxyVariables(proxy.url, options.env), ...roots.variables },
    async check(command, env) {
      const version = command.some((word) => RUNS_NODE.test(word)) ? await nodeVersion(command[0], env) : null;
      if (version !== null && !usesProxy(version)) reportOnce(oldNode(version));
    },
    async close() {
      roots.close();
      await proxy.close();
    },
  };
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
