import { iso } from '../contract/values.ts';
import { providerHostname } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderId } from '../contract/provider-table.ts';
import type { OpenedProvider, ProviderAnswers } from '../contract/providers.ts';
import type { ProviderConnection } from '../providers/connections.ts';
import type { Provider } from '../providers/provider.ts';

/** An open connection, and what its owner gets once. */
interface OpenedConnection extends Pick<OpenedProvider, 'token' | 'baseUrl' | 'proxyUrl' | 'caFile'> {
  connection: ProviderConnection;
  own: ReturnType<Provider['environment']>;
}

export function createProviderServices(parts: {
  connections: () => readonly ProviderConnection[];
  emulated: Readonly<Record<ProviderId, Pick<Provider, 'operations'>>>;
  baseUrlOf: (hostname: string) => string;
  connect: (input: Pick<ProviderConnection, 'provider' | 'projectIds' | 'pid'>) => Promise<OpenedConnection>;
  ask: (hostname: string, provider: ProviderId | undefined) => Promise<ProviderAnswers>;
  close: (connection: ProviderConnection) => void;
}): Services['providers'] {
  return {
    list: () =>
      PROVIDER_IDS.map((provider) => {
        const { operations } = parts.emulated[provider];
        const emulated = operations.filter(({ missing }) => missing === undefined);
        return {
          provider,
          title: PROVIDERS[provider].title,
          hosts: [...PROVIDERS[provider].hosts],
          baseUrl: parts.baseUrlOf(providerHostname(provider)),
          operations: {
            emulated: emulated.length,
            driven: emulated.filter(({ undriven }) => undriven === undefined).length,
            total: operations.length,
          },
          connections: parts
            .connections()
            .filter((each) => each.provider === provider)
            .map((each) => ({ ...present(each), since: iso(each.sinceMs) })),
        };
      }),
    async connect({ provider, projectId, also, pid = null }) {
      const projectIds = [...new Set([projectId, ...also])];
      const { connection, own, ...opened } = await parts.connect({ provider, projectIds, pid });
      return {
        ...present(connection),
        ...opened,
        hosts: [...PROVIDERS[provider].hosts],
        env: { ...reaching(opened), ...own.set },
        variables: own.set,
        unset: [...own.unset],
      };
    },
    ask: ({ hostname, provider }) => parts.ask(hostname, provider),
    disconnect({ id }) {
      const found = parts.connections().find((each) => each.id === id);
      if (found === undefined)
        throw new VivariumError('not_found', `There is no connection "${id}". List them: \`providers.list\`.`);
      parts.close(found);
      return { id };
    },
  };
}

const present = ({ id, provider, projectIds }: ProviderConnection) => ({
  ...{ id, provider, projectIds: [...projectIds] },
  projectId: projectIds[0] ?? '',
});

/** Variables for programs that reach the hosts by the engine’s own proxy, and trust the connection’s root. */
function reaching({ proxyUrl, caFile }: Pick<OpenedConnection, 'proxyUrl' | 'caFile'>): Record<string, string> {
  const proxy = ['HTTPS_PROXY', 'https_proxy'].map((name) => [name, proxyUrl]);
  const roots = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];
  return Object.fromEntries([...proxy, ...roots.map((name) => [name, caFile]), ['NODE_USE_ENV_PROXY', '1']]);
}
