import { normalizeHostname } from '../base/hostname.ts';
import { VivariumError } from '../contract/errors.ts';
import type { MappedHostname, MappedHostnames } from './mapped-hostnames.ts';

/** Where a browser is sent. */
export interface ReachedAddress extends MappedHostname {
  /** With no port: that of the scheme is mapped. */
  url: string;
  scheme: 'http' | 'https';
}

/**
 * The address of `text`, which is a hostname in any form.
 * @throws VivariumError `not_found` for what is not served, with what to do.
 */
export function reachedAddress(
  text: string,
  { path, scheme: asked }: { path?: string | undefined; scheme?: ReachedAddress['scheme'] | undefined },
  { mapped, isSecure }: { mapped: Pick<MappedHostnames, 'find'>; isSecure: (hostname: string) => boolean },
): ReachedAddress {
  const normal = normalizeHostname(text);
  const found = normal.ok ? mapped.find(normal.hostname) : null;
  if (found === null) {
    throw new VivariumError(
      'not_found',
      `Nothing is served at ${text}. Attach it to a project and verify it, or take a hostname that is served.`,
    );
  }
  const scheme = asked ?? (isSecure(found.hostname) ? 'https' : 'http');
  return { ...found, scheme, url: `${scheme}://${found.hostname}${path ?? pathOf(found)}` };
}

/** Something to see without a key: the built-in API has nothing at its root. */
export const pathOf = ({ leadsTo }: Pick<MappedHostname, 'leadsTo'>): string =>
  leadsTo === 'api' ? '/v1/openapi.json' : '/';
