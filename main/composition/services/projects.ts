import { routeTarget } from '../../model/route.ts';
import { leadsToOwnPort, readUpstreamDocument } from '../../proxy/upstream/dial.ts';
import { createOrderServices } from '../../services/pets/orders.ts';
import { createPetSeeds } from '../../services/pets/pet-seeds.ts';
import { createPetServices } from '../../services/pets/pets.ts';
import { createApiServices } from '../../services/projects/api.ts';
import { createKeyServices } from '../../services/projects/keys.ts';
import { createLimitServices } from '../../services/projects/limits.ts';
import { createDeployServices, createProjectServices } from '../../services/projects/projects.ts';
import { createRequestHistory, createRequestServices } from '../../services/traffic/requests.ts';
import type { Foundation } from '../foundation.ts';
import type { ServiceParts, Shared } from './shared.ts';

/** Projects with their keys, limits, deploys and pets, and the requests that the API page sends. */
export function projectServices(
  { clock, store, resource }: Foundation,
  { dataPlane, domains: { lifecycle }, breaks, control }: ServiceParts,
  { effects, present, redactor, demo }: Shared,
) {
  const { projects, keys } = store;
  const { limiter, loopback, internalTokens, pseudonym } = dataPlane;
  return {
    projects: createProjectServices({
      clock,
      projects,
      effects,
      leadsToControl: (url) => leadsToOwnPort(url, control().port),
      present,
      planChanged: lifecycle.planChanged,
      personaChanged: lifecycle.personaChanged,
      makeDemo: () => demo().make(),
      forget(projectId) {
        const gone = lifecycle.list().filter((domain) => domain.projectId === projectId);
        void breaks.endOf(
          gone.map(({ hostname }) => hostname),
          projectId,
        );
        lifecycle.projectRemoved(projectId);
        for (const part of [limiter, dataPlane.rates, dataPlane.series]) part.forget(projectId);
        demo().forget({ projectId });
      },
    }),
    deploys: createDeployServices({
      clock,
      projects,
      deploys: store.deploys,
      effects,
      async probe({ id, target }) {
        if (target.kind !== 'upstream') return dataPlane.api.probe({ projectId: id, environment: 'production' });
        // On demand, because undici takes memory.
        const { probeUpstream } = await import('../../proxy/upstream/probe.ts');
        await probeUpstream(target, pseudonym);
      },
    }),
    keys: createKeyServices({
      clock,
      projects,
      keys,
      effects,
      readable: () => demo().key(),
      lastUse: (key) => limiter.lastRequestOf(key.projectId, key.id),
      forget(key) {
        limiter.forget(key.projectId, `key:${key.id}`);
        demo().forget({ keyId: key.id });
      },
    }),
    limits: createLimitServices({ projects, keys, limiter, effects }),
    api: createApiServices({
      projects,
      keys,
      present,
      document: dataPlane.api.document,
      async upstreamDocument({ target }, authority, signal) {
        const published = routeTarget(target);
        return published.kind !== 'upstream' ? null : readUpstreamDocument(published, { authority, pseudonym, signal });
      },
      loopback,
      internalTokens,
      remember: createRequestHistory({ clock, rows: store.requests, effects, redactor }),
    }),
    requests: createRequestServices({ projects, rows: store.requests, effects }),
    pets: createPetServices({
      clock,
      projects,
      pets: store.pets,
      seeds: () => createPetSeeds(resource('demo/seed.json')),
      onRestored: store.snapshots.onRestored,
    }),
    orders: createOrderServices({ clock, projects, orders: store.orders, effects }),
  };
}
