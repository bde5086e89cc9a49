import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import { CNAME_TARGET, providerHostname } from '../base/config.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { PROVIDER_CONNECTIONS_FILE, PROVIDERS_FOLDER } from '../base/system/data-folder.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { ownCommand } from '../base/system/own-command.ts';
import { originOf } from '../base/text/hostname.ts';
import { createRunLeaves, type RunLeaves } from '../ca/run-leaves.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderId } from '../contract/provider-table.ts';
import { evaluateHostname } from '../domains/hostname-rules.ts';
import { evaluateRedirects } from '../domains/redirects.ts';
import { claimOf } from '../domains/personas/claims.ts';
import { worded } from '../domains/personas/persona-words.ts';
import { PERSONAS } from '../domains/personas/personas.ts';
import type { Leaf } from '../model/leaf.ts';
import { providerRoute } from '../model/route.ts';
import { buildRouteTable } from '../proxy/route-table.ts';
import type { ProviderPlace } from '../proxy/tunnels/tunnel.ts';
import {
  createProviderConnections,
  type ProviderConnection,
  proxyCredentials,
  tokenOfProxy,
} from '../providers/connections.ts';
import { EMULATED } from '../providers/emulated.ts';
import { createProviderEndpoint } from '../providers/endpoint.ts';
import type { Account, ProviderProject, World } from '../providers/provider.ts';
import { createLimiter } from '../ratelimit/limiter.ts';
import type { Certificates } from './certificates.ts';
import type { DataPlane } from './data-plane.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

export type Providers = ReturnType<typeof openProviders>;

interface ProviderParts {
  certificates: Certificates;
  domains: Domains;
  publish: () => void;
  services: () => Services;
  dataPlane: () => DataPlane;
}

const CONTEXT = { signal: undefined };
const ITEMS_MAX = 10_000;
const isLoopback = (address: string): boolean => /^(?:127\.|::1$)/.test(address);

/** The emulated APIs of providers: their connections, and what their operations read and change. */
export function openProviders(foundation: Foundation, parts: ProviderParts) {
  const { config, stateDir, clock, log, store, onStop } = foundation;
  const folder = join(stateDir, PROVIDERS_FOLDER);
  const realNow = () => clock.state().realNow;
  rmSync(folder, { recursive: true, force: true });
  const connections = createProviderConnections({ file: join(stateDir, PROVIDER_CONNECTIONS_FILE), realNow });
  // In memory, apart from the limits of projects: these are the provider’s, and no plan has them.
  const storage = { load: () => [], save: () => undefined, remove: () => undefined };
  const limiter = createLimiter({ clock, storage, banRule: () => ({ afterRefusals: Infinity, durationMs: 0 }) });
  const places = new Map<string, { place: ProviderPlace; caFile: string }>();
  onStop(() => {
    limiter.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const accountOf = ({ projectIds }: ProviderConnection): Account | null => accountOfProjects(projectIds);

  function accountOfProjects(projectIds: readonly string[]): Account | null {
    const projects = projectIds.flatMap((id) => store.projects.get(id) ?? []).map(projectFacts);
    return projects.length === 0 ? null : { id: hash('sha256', projectIds[0] ?? '').slice(0, 24), projects };
  }

  /** Makes the leaves of a connection, and a file with its root beside Vivarium’s own. */
  function openPlace({ id, provider }: ProviderConnection) {
    const leaves = createRunLeaves(PROVIDERS[provider].hosts, realNow());
    const place = placeFor(provider, leaves, clock);
    const caFile = join(folder, `${id}.pem`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const own = readFileSync(parts.certificates.certificateFile, 'utf8');
    writeFileAtomically(caFile, `${leaves.rootPem}${own}`, OWNER_ONLY);
    const opened = { place, caFile };
    places.set(id, opened);
    return opened;
  }
  for (const kept of connections.list()) openPlace(kept);

  function close({ id }: Pick<ProviderConnection, 'id'>): void {
    const opened = places.get(id);
    connections.close(id);
    places.delete(id);
    parts.publish();
    if (opened === undefined) return;
    parts.dataPlane().cut(opened.place.own);
    rmSync(opened.caFile, { force: true });
  }

  const baseUrlOf = (hostname: string): string => originOf('https', hostname, parts.dataPlane().ports.https);
  const target = createProviderEndpoint({
    providers: EMULATED,
    ...{ connections, limiter, accountOf, log },
    command: ownCommand(config.dataDir),
    world: (provider) => worldOf(provider, foundation, parts),
    times: () => clock.state(),
  });

  return {
    target,
    inUse: (): ReadonlySet<ProviderId> => new Set(connections.list().map(({ provider }) => provider)),
    shareAccount: (one: string, other: string): boolean =>
      connections.list().some(({ projectIds }) => projectIds.includes(one) && projectIds.includes(other)),
    /** Where CONNECT with these credentials leads; null if they are for no provider. */
    placeOf(authorization: string | undefined, address: string): ProviderPlace | 'refused' | null {
      const token = tokenOfProxy(authorization);
      if (token === null) return null;
      const connection = isLoopback(address) ? connections.of(token) : null;
      return (connection === null ? null : places.get(connection.id)?.place) ?? 'refused';
    },
    emulated: EMULATED,
    baseUrlOf,
    connections: connections.list,
    /** @throws VivariumError not_found */
    async connect(input: Pick<ProviderConnection, 'provider' | 'projectIds' | 'pid'>) {
      for (const projectId of input.projectIds) await impersonate(input.provider, projectId, parts.services());
      const { connection, token } = connections.open(input);
      const account = accountOf(connection);
      if (account === null) throw new VivariumError('not_found', 'The project was removed meanwhile.');
      const { caFile } = openPlace(connection);
      parts.publish();
      const { ports } = parts.dataPlane();
      const own = EMULATED[input.provider].environment(account, token);
      return {
        ...{ connection, token, caFile, own },
        baseUrl: baseUrlOf(providerHostname(input.provider)),
        proxyUrl: `http://${proxyCredentials(token)}@127.0.0.1:${ports.http}`,
      };
    },
    /** @throws VivariumError not_found for an unattached hostname; conflict without a provider to ask */
    async ask(text: string, given: ProviderId | undefined) {
      const { hostname, projectId } = parts.domains.lifecycle.get(text);
      const project = store.projects.get(projectId);
      const provider = given ?? PROVIDER_IDS.find((id) => id === project?.persona);
      if (project === null || provider === undefined) {
        const message = `The project of ${hostname} follows the rules of no provider whose API is emulated. Name one with --provider: ${PROVIDER_IDS.join(', ')}.`;
        throw new VivariumError('conflict', message);
      }
      const account = accountOfProjects([project.id]);
      const questions = account === null ? [] : EMULATED[provider].asks(projectFacts(project), hostname);
      const answers = questions.map((question) => target.ask(provider, account as Account, question));
      return { provider, answers: await Promise.all(answers) };
    },
    close,
    /** Closes the connections of a run whose process has ended. */
    processEnded(pid: number): void {
      for (const connection of connections.list()) if (connection.pid === pid) close(connection);
    },
  };
}

const projectFacts = ({ id, name, slug }: ProviderProject): ProviderProject => ({ id, name, slug });

/** A project that has no persona of another provider follows the rules of this one. */
async function impersonate(provider: ProviderId, projectId: string, { projects }: Services): Promise<void> {
  const { persona } = await projects.get({ projectId }, CONTEXT);
  if (persona === 'animal-store') await projects.update({ projectId, persona: provider }, CONTEXT);
}

/** A listener of its own: only the provider’s hosts, with the leaves of one connection. */
function placeFor(provider: ProviderId, leaves: RunLeaves, clock: Foundation['clock']): ProviderPlace {
  const { hosts } = PROVIDERS[provider];
  const routes = hosts.map((host) => providerRoute(host, provider));
  const table = buildRouteTable({ routes, redirects: new Map(), apiKeys: new Map() }).within((host) =>
    hosts.some((each) => each === host),
  );
  const contexts = createSecureContexts<Leaf>({ clock, contextsMax: 1 });
  return {
    own: { hosts: new Set(), serverNames: new Set(), paths: new Map(), sites: new Map() },
    table: () => table,
    contextFor(hostname): SecureContext | null {
      const leaf = hostname !== null && table.knows(hostname) ? leaves.leafAt(clock.state().realNow) : null;
      return leaf === null ? null : contexts.contextFor(provider, leaf);
    },
  };
}

function worldOf(provider: ProviderId, { clock, store }: Foundation, { domains, services }: ProviderParts): World {
  const { lifecycle } = domains;
  const resolve: World['resolve'] = async (name, type) => {
    const { answer } = await services().dns.query({ name, type }, CONTEXT);
    return answer.filter((record) => record.type === type).map(({ value }) => value);
  };
  return {
    services: services(),
    now: () => clock.now(),
    domains: lifecycle.list,
    held: lifecycle.find,
    hostname(text) {
      const verdict = evaluateHostname(text);
      return verdict.ok ? verdict : { fault: verdict.refusal.message };
    },
    attach: (projectId, hostname) => void lifecycle.attach(projectId, hostname, 'hostname'),
    verify: async (hostname) => await services().domains.verify({ hostname }, CONTEXT),
    redirectFault(projectId, from, to) {
      const all = store.projects.list().flatMap(({ redirects }) => redirects);
      const others = all.filter((each) => each.from !== from);
      const verdict = evaluateRedirects([{ from, to }], { projectId, others, holderOf: () => ({ projectId }) });
      return verdict.ok ? null : (verdict.issues[0]?.message ?? '');
    },
    async look(projectId, hostname) {
      const { checks, gate } = await lifecycle.look(projectId, hostname);
      return { checks: checks.map((check) => worded(check, PERSONAS[provider], hostname)), gate };
    },
    resolve,
    async target(project) {
      const { cnameTarget: name } = lifecycle.rules({
        hostname: CNAME_TARGET,
        projectId: project.id,
        verifiedAtMs: null,
      });
      return { name, addresses: await resolve(name, 'A') };
    },
    proof(project, hostname) {
      const rival = { domain: hostname, above: hostname, project: '' };
      const claim = claimOf(PERSONAS[provider], { hostname, project, verifiedBefore: false, rival });
      return claim?.proofs[0] ?? { name: hostname, value: '' };
    },
    items: {
      list: (kind) => store.providerItems.list(provider, kind),
      put(item) {
        if (store.providerItems.count(item.projectId) >= ITEMS_MAX)
          throw new VivariumError('conflict', `The project has ${ITEMS_MAX} claims and other entries already.`);
        store.providerItems.put({ ...item, provider, createdAtMs: clock.now() });
      },
      remove: (item) => store.providerItems.remove({ ...item, provider }),
    },
  };
}
