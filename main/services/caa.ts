import { normalizeHostname } from '../base/hostname.ts';
import type { Services } from '../contract/index.ts';
import type { Settings } from '../contract/settings.ts';
import { caaLookupOver } from '../domains/caa-lookup.ts';
import { type CaaRequest, explainCaa } from '../model/caa/walk.ts';
import type { DnsLookup } from '../model/dns-lookup.ts';
import { inputError } from './project-rules.ts';

export function createCaaServices(options: {
  dns: DnsLookup;
  identity: () => Settings['caaIdentity'];
}): Services['caa'] {
  return {
    explain({ hostname: text, issuer, wildcard, method, accountUri }) {
      const name = normalizeHostname(text.trim().replace(/^\*\./, ''));
      if (!name.ok) throw inputError('hostname', 'must be a hostname, such as "www.example.test".');
      const identity = options.identity();
      // The account belongs to the CA in the settings; another CA does not know it.
      const own = issuer === undefined || issuer.toLowerCase() === identity.domain.toLowerCase();
      const request: CaaRequest = {
        hostname: name.hostname,
        wildcard: wildcard || text.trim().startsWith('*.'),
        issuer: issuer ?? identity.domain,
        method,
        accountUri: accountUri ?? (own ? identity.accountUri : null),
      };
      return explainCaa({ ...request, lookup: caaLookupOver(options.dns) });
    },
  };
}
