import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { DnsClient, formatValue, parseName, ResponseRecord, serverText, typeCode } from '../dns/index.ts';
import { inputError } from './project-rules.ts';

export function createDnsServices(options: {
  client: Pick<DnsClient, 'ask'>;
  /** The server that the setting names. */
  resolver: () => { address: string; port: number };
  rules: {
    formatValue: typeof formatValue;
    parseName: typeof parseName;
    serverText: typeof serverText;
    typeCode: typeof typeCode;
  };
}): Services['dns'] {
  const { rules } = options;

  const present = ({ name, ttlSeconds, data }: ResponseRecord) => ({
    name: name === '' ? '.' : name,
    type: data.type,
    ttl: ttlSeconds,
    // RFC 3597 §5: how data of an unknown type is written.
    value: 'octets' in data ? `\\# ${data.octets.length / 2} ${data.octets}`.trimEnd() : rules.formatValue(data),
  });

  return {
    async query({ name: text, type: mnemonic }) {
      const name = rules.parseName(text);
      if (!name.ok) throw inputError('name', name.message);
      const type = rules.typeCode(mnemonic);
      if (type === null) {
        throw inputError('type', `"${mnemonic}" is not a record type; write A, CAA, or a number like TYPE65.`);
      }
      const server = options.resolver();
      const result = await options.client.ask(server, { name: name.name, type });
      const at = rules.serverText(server);
      if (result.kind === 'failed') throw failure(at, result);
      const transport = result.transport === 'udp' ? 'UDP' : 'TCP';
      const { rcode, answers, authority } = result;
      return {
        rcode,
        answer: answers.map(present),
        authority: authority.map(present),
        source: `${at} over ${transport}`,
      };
    },
  };
}

function failure(at: string, { reason, detail }: { reason: string; detail?: string }): VivariumError {
  const because = detail === undefined ? '' : ` (${detail})`;
  if (reason === 'timeout') {
    return new VivariumError(
      'gateway_timeout',
      `${at} did not answer in time${because}; check the setting "resolver", or whether a server runs there.`,
    );
  }
  const what = reason === 'malformed' ? 'answered with something that is not DNS' : 'can’t be reached';
  return new VivariumError('bad_gateway', `${at} ${what}${because}; check the setting "resolver".`);
}
