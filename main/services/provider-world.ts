import type { Clock } from '../base/clock.ts';
import { CNAME_TARGET } from '../base/config.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import { evaluateHostname } from '../domains/hostname-rules.ts';
import type { Lifecycle } from '../domains/lifecycle.ts';
import { claimOf } from '../domains/personas/claims.ts';
import { worded } from '../domains/personas/persona-words.ts';
import { PERSONAS } from '../domains/personas/personas.ts';
import { evaluateRedirects } from '../domains/redirects.ts';
import { CONTEXT } from '../providers/handlers.ts';
import type { World } from '../providers/provider.ts';
import type { ProjectRows, ProviderItemRows } from './dependencies.ts';

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
    hostname(text) {
      const verdict = evaluateHostname(text);
      return verdict.ok ? verdict : { fault: verdict.refusal.message };
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
          throw new VivariumError('conflict', `The project has ${ITEMS_MAX} claims and other entries already.`);
        items.put({ ...item, provider, createdAtMs: clock.now() });
      },
      remove: (item) => items.remove({ ...item, provider }),
    },
  };
}
