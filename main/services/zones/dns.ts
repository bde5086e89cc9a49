import type { Clock } from '../../base/clock.ts';
import { normalizeHostname } from '../../base/text/hostname.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { Settings } from '../../contract/settings.ts';
import type { AnswerRecord } from '../../contract/zones.ts';
import type { DnsClient } from '../../dns/client/client.ts';
import { showRecord } from '../../dns/zones/dnssec-format.ts';
import { serverText } from '../../dns/client/lookup.ts';
import type { ResponseRecord } from '../../dns/wire/message-reader.ts';
import { typeCode, typeName } from '../../dns/wire/record.ts';
import { caaLookupOver } from '../../domains/checks/resolution.ts';
import { type CaaRequest, explainCaa } from '../../model/caa/walk.ts';
import type { DnsLookup } from '../../model/dns-lookup.ts';
import { parseName } from '../../model/dns-name.ts';
import { inputError } from '../projects/project-rules.ts';

export function createDnsServices(options: {
  clock: Pick<Clock, 'monotonic'>;
  client: Pick<DnsClient, 'ask'>;
  resolver: () => { address: string; port: number };
}): Services['dns'] {
  const { clock } = options;

  function present({ name, ttlSeconds, data }: ResponseRecord): AnswerRecord {
    return { name: nameText(name), ttl: ttlSeconds, ...showRecord(data) };
  }

  return {
    async query({ name: text, type: mnemonic }) {
      const name = parseName(text);
      if (!name.ok) throw inputError('name', name.message);
      const type = typeCode(mnemonic);
      if (type === null) {
        throw inputError('type', `"${mnemonic}" is not a record type; write A, CAA, or a number like TYPE65.`);
      }
      const server = options.resolver();
      const askedAt = clock.monotonic();
      const result = await options.client.ask(server, { name: name.name, type });
      const elapsedMs = Math.round((clock.monotonic() - askedAt) * 10) / 10;
      const at = serverText(server);
      if (result.kind === 'failed') throw failure(at, result);
      const { kind: _answered, answers, authority, additional, transport, flags, ...rest } = result;
      return {
        ...rest,
        flags: [...flags],
        answer: answers.map(present),
        authority: authority.map(present),
        additional: additional.map(present),
        question: { name: nameText(name.name), type: typeName(type) },
        source: `${at} over ${transport === 'udp' ? 'UDP' : 'TCP'}`,
        server: { address: server.address, port: server.port, transport },
        elapsedMs,
      };
    },
  };
}

const nameText = (name: string): string => (name === '' ? '.' : name);

function failure(at: string, { reason, detail }: { reason: string; detail?: string }): VivariumError {
  const because = detail === undefined ? '' : ` (${detail})`;
  if (reason === 'timeout') {
    return new VivariumError(
      'gateway_timeout',
      `${at} did not answer in time${because}; check the setting "resolver", and that a server runs there.`,
    );
  }
  const what = reason === 'malformed' ? 'sent a malformed reply' : 'can’t be reached';
  return new VivariumError('bad_gateway', `${at} ${what}${because}; check the setting "resolver".`);
}

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
      const own = issuer === undefined || issuer === identity.domain;
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
