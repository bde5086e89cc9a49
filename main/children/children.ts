import { type Environment, variableOf } from './proxies-before.ts';
import { openChildrenProxy, type ProxyOptions } from './proxy.ts';
import { openRoots, type RootsOptions } from './roots.ts';

/** What programs need to reach Vivarium's hostnames and trust its root, unchanged. */
export interface Children {
  variables: Record<string, string>;
  close(): Promise<void>;
}

export async function openChildren(options: RootsOptions & Omit<ProxyOptions, 'trust'>): Promise<Children> {
  const roots = openRoots(options);
  const proxy = await openChildrenProxy({ ...options, trust: roots.trust });
  return {
    variables: { ...proxyVariables(proxy.url, options.env), ...roots.variables },
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
