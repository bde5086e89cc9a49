import { originOf } from '../base/text/hostname.ts';
import type { CopiedRequest } from '../base/text/request-shell.ts';
import type { ReachedAddress } from './mapped-hostnames.ts';

/** Parameters of the snippets. */
export interface SnippetFacts {
  address: Pick<ReachedAddress, 'hostname' | 'scheme' | 'leadsTo'>;
  ports: { http: number; https: number; dns: number };
  /** The file of the root, in PEM. */
  caFile: string;
  proxyUrl: string;
  pacUrl: string;
  dohUrl: string;
}

/** The values that snippets contain. */
export interface SnippetContext extends SnippetFacts {
  secure: boolean;
  /** The URL with the listener's port, for clients that connect to the address themselves. */
  direct: string;
  /** The URL with the scheme's default port, for clients that use the proxy. */
  proxied: string;
  port: number;
  /** Whether the request needs an API key. */
  keyed: boolean;
}

export function snippetContext(facts: SnippetFacts): SnippetContext {
  const { hostname, scheme, leadsTo } = facts.address;
  const secure = scheme === 'https';
  const port = facts.ports[scheme];
  const keyed = leadsTo === 'api';
  const path = keyed ? '/v1/pets?limit=5' : '/';
  return {
    ...facts,
    secure,
    port,
    keyed,
    direct: `${originOf(facts.address.scheme, facts.address.hostname, port)}${path}`,
    proxied: `${scheme}://${hostname}${path}`,
  };
}

/** The request of every snippet. */
export const requestOf = (url: string, { keyed }: Pick<SnippetContext, 'keyed'>): CopiedRequest => ({
  method: 'GET',
  url,
  headers: [],
  body: undefined,
  authorized: keyed,
});

/** The root's file, for HTTPS. */
export const rootOf = ({ secure, caFile }: Pick<SnippetContext, 'secure' | 'caFile'>): string | undefined =>
  secure ? caFile : undefined;
