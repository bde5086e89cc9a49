import { originOf } from '../base/hostname.ts';
import type { CopiedRequest } from '../base/request-shell.ts';
import type { ReachedAddress } from './mapped-hostnames.ts';

/** Parameters of the snippets. */
export interface SnippetFacts {
  address: Pick<ReachedAddress, 'hostname' | 'scheme' | 'leadsTo'>;
  ports: { http: number; https: number; dns: number };
  /** Of the root, in PEM. */
  caFile: string;
  proxyUrl: string;
  pacUrl: string;
  dohUrl: string;
}

/** What every snippet is made of. */
export interface SnippetContext extends SnippetFacts {
  secure: boolean;
  /** At the listener's port, for clients that are given the address; at the scheme's port, for clients of the proxy. */
  direct: string;
  proxied: string;
  port: number;
  /** Whether there is an API key to use. */
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
