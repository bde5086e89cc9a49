import { iso } from '../contract/values.ts';
import { providerHostname, CNAME_TARGET } from '../base/config.ts';
import type { Clock } from '../base/clock.ts';
import { conflict, invalidRequest, notFound } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { PROVIDER_IDS, type ProviderId, PROVIDERS } from '../contract/provider-table.ts';
import { CONNECTIONS_MAX, type OpenedProvider, type ProviderAnswers } from '../contract/providers.ts';
import { evaluateHostname } from '../domains/hostname-rules.ts';
import type { Lifecycle } from '../domains/lifecycle.ts';
import { claimOf } from '../domains/personas/claims.ts';
import { worded } from '../domains/personas/provider.ts';
import { PERSONAS } from '../domains/personas/personas.ts';
import { evaluateRedirects } from '../domains/redirects.ts';
import type { ProviderConnection, ProviderConnections } from '../providers/connections.ts';
import { proxyCredentials } from '../providers/credentials.ts';
import { type Account, CONTEXT, type World } from '../providers/facts.ts';
import type { Provider, Question } from '../providers/provider.ts';
import { ROOT_VARIABLES } from '../reach/snippets.ts';
import type { ProjectRows, ProviderItemRows } from './dependencies.ts';

export function createProviderServices(parts: {
  connections: Pick<ProviderConnections, 'list' | 'get' | 'open'>;
  emulated: Readonly<Record<ProviderId, Pick<Provider, 'operations' | 'variables' | 'asks'>>>;
  /** Null when none of the projects exists. */
  accountOf: (projectIds: readonly string[]) => Account | null;
  openPlace: (connection: ProviderConnection) => { caFile: string };
  close: (connection: ProviderConnection) => void;
  ask: (provider: ProviderId, account: Account, question: Question) => Promise<ProviderAnswers['answers'][number]>;
  baseUrlOf: (hostname: string) => string;
  httpPort: () => number;
  publish: () => void;
  projects: Pick<ProjectRows, 'get'>;
  lifecycle: Pick<Lifecycle, 'get'>;
  services: () => Pick<Services, 'projects'>;
}): Services['providers'] {
  const { connections, emulated, accountOf, projects } = parts;

  /** A project that has no persona of another provider follows the rules of this one. */
  async function impersonate(provider: ProviderId, projectId: string): Promise<void> {
    const service = parts.services().projects;
    const { persona } = await service.get({ projectId }, CONTEXT);
    if (persona === 'animal-store') await service.update({ projectId, persona: provider }, CONTEXT);
  }

  return {
    list: () =>
      PROVIDER_IDS.map((provider) => {
        const { operations } = emulated[provider];
        const made = operations.filter(({ missing }) => missing === undefined);
        return {
          provider,
          title: PROVIDERS[provider].title,
          hosts: [...PROVIDERS[provider].hosts],
          baseUrl: parts.baseUrlOf(providerHostname(provider)),
          operations: { emulated: made.length, driven: made.length, total: operations.length },
          connections: connections
            .list()
            .filter((each) => each.provider === provider)
            .map((each) => ({ ...present(each), since: iso(each.sinceMs) })),
        };
      }),
    async connect({ provider, projectId, also, pid = null }) {
      const projectIds = [...new Set([projectId, ...also])];
      for (const each of projectIds) await impersonate(provider, each);
      const account = accountOf(projectIds);
      if (account === null) throw notFound('The project was removed meanwhile.');
      // A removed project can return with a snapshot, so its connections are closed only when there is no room.
      if (connections.list().length >= CONNECTIONS_MAX) {
        for (const each of connections.list()) if (accountOf(each.projectIds) === null) parts.close(each);
      }
      const { connection, token } = connections.open({ provider, projectIds, pid });
      const { caFile } = parts.openPlace(connection);
      parts.publish();
      const { token: names, ids, unset } = emulated[provider].variables;
      const variables = { ...Object.fromEntries(names.map((name) => [name, token])), ...ids(account) };
      const proxyUrl = `http://${proxyCredentials(token)}@127.0.0.1:${parts.httpPort()}`;
      return {
        ...present(connection),
        ...{ token, proxyUrl, caFile },
        baseUrl: parts.baseUrlOf(providerHostname(provider)),
        hosts: [...PROVIDERS[provider].hosts],
        env: { ...reaching({ proxyUrl, caFile }), ...variables },
        variables,
        unset: [...unset],
      };
    },
    async ask(input) {
      const { hostname, projectId } = parts.lifecycle.get(input.hostname);
      const persona = projects.get(projectId)?.persona;
      const account = accountOf([projectId]);
      const provider = input.provider ?? PROVIDER_IDS.find((id) => id === persona);
      if (account === null || provider === undefined) {
        const message = `The project of ${hostname} follows the rules of no provider whose API is emulated. Name one with --provider: ${PROVIDER_IDS.join(', ')}.`;
        throw conflict(message);
      }
      const questions = emulated[provider].asks(account.projects[0], hostname);
      return { provider, answers: await Promise.all(questions.map((each) => parts.ask(provider, account, each))) };
    },
    disconnect({ id }) {
      const found = connections.get(id);
      if (found === null) throw notFound(`There is no connection "${id}". List them: \`providers.list\`.`);
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
function reaching({ proxyUrl, caFile }: Pick<OpenedProvider, 'proxyUrl' | 'caFile'>): Record<string, string> {
  const proxy = ['HTTPS_PROXY', 'https_proxy'].map((name) => [name, proxyUrl]);
  // A program’s own list could cover the hosts, and lead it to the real ones.
  const direct = ['NO_PROXY', 'no_proxy'].map((name) => [name, 'localhost,127.0.0.1,::1,[::1]']);
  const roots = ROOT_VARIABLES.map((name) => [name, caFile]);
  return Object.fromEntries([...proxy, ...direct, ...roots, ['NODE_USE_ENV_PROXY', '1']]);
}

/** Claims and other entries of a project. */
const ITEMS_MAX = 10_000;

/** The engine's facts as the operations of a provider's emulated API read and change them. */
export function providerWorld(
  provider: ProviderId,
  parts: {
    clock: Pick<Clock, 'now'>;
    lifecycle: Pick<Lifecycle, 'list' | 'find' | 'attach' | 'look' | 'rules'>;
    projects: Pick<ProjectRows, 'list'>;
    items: ProviderItemRows;
    services: World['services'] & Pick<Services, 'dns'>;
  },
): World {
  const { clock, lifecycle, projects, items, services } = parts;
  const resolve: World['resolve'] = async (name, type) => {
    const { answer } = await services.dns.query({ name, type }, CONTEXT);
    return answer.filter((record) => record.type === type).map(({ value }) => value);
  };
  return {
    services,
    now: () => clock.now(),
    domains: lifecycle.list,
    held: lifecycle.find,
    hostname(
      text,
      refuse = (fault) => {
        throw invalidRequest(fault);
      },
    ) {
      const verdict = evaluateHostname(text);
      return verdict.ok ? verdict : refuse(verdict.refusal.message);
    },
    attach: (projectId, hostname) => void lifecycle.attach(projectId, hostname, 'hostname'),
    verify: async (hostname) => await services.domains.verify({ hostname }, CONTEXT),
    redirectFault(projectId, from, to) {
      const others = projects.list().flatMap(({ redirects }) => redirects.filter((each) => each.from !== from));
      const verdict = evaluateRedirects([{ from, to }], { projectId, others, holderOf: () => ({ projectId }) });
      return verdict.ok ? null : (verdict.issues[0]?.message ?? '');
    },
    async look(projectId, hostname) {
      const { checks, gate } = await lifecycle.look(projectId, hostname);
      return { checks: checks.map((check) => worded(check, PERSONAS[provider], hostname)), gate };
    },
    resolve,
    async target({ id: projectId }) {
      const { cnameTarget: name } = lifecycle.rules({ hostname: CNAME_TARGET, projectId, verifiedAtMs: null });
      return { name, addresses: await resolve(name, 'A') };
    },
    proof(project, hostname) {
      const rival = { domain: hostname, above: hostname, project: '' };
      const claim = claimOf(PERSONAS[provider], { hostname, project, verifiedBefore: false, rival });
      return claim?.proofs[0] ?? { name: hostname, value: '' };
    },
    items: {
      list: (kind) => items.list(provider, kind),
      put(item) {
        if (items.count(item.projectId) >= ITEMS_MAX)
          throw conflict(`The project has ${ITEMS_MAX} claims and other entries already.`);
        items.put({ ...item, provider, createdAtMs: clock.now() });
      },
      remove: (item) => items.remove({ ...item, provider }),
    },
  };
}
