import { isAlive } from '../../base/system/runtime-file.ts';
import { originOf } from '../../base/text/hostname.ts';
import type { Services } from '../../contract/index.ts';
import { NAME_SERVER } from '../../dns/zones/platform-zone.ts';
import { createRunJournal } from '../../services/runs/run-journal.ts';
import { createRuns } from '../../services/runs/runs.ts';
import { createSnapshotServices } from '../../services/snapshots.ts';
import { createWorldServices } from '../../services/world/world.ts';
import { createTrafficStorage } from '../../traffic/stored.ts';
import type { Foundation } from '../foundation.ts';
import type { ServiceParts, Shared } from './shared.ts';

/** What changes or replaces the world as a whole: files, snapshots, backups and runs. */
export function worldServices(
  { clock, log, store, events, onStop }: Foundation,
  { certificates, dataPlane, domains: { lifecycle }, breaks }: ServiceParts,
  { redactor, trafficIds, slugOf, resolve, demo }: Shared,
  services: () => Services,
) {
  const { projects } = store;
  const realNow = () => clock.state().realNow;
  const runs = createRuns({
    services,
    projects,
    lifecycle,
    journal: createRunJournal({ services, projects, lifecycle, settings: store.settings, log }),
    urlOf: (hostname) => originOf('https', hostname, dataPlane.ports.https),
    caFile: () => certificates.certificateFile,
    realNow,
    isAlive,
  });
  onStop(runs.stop);
  return {
    runs,
    backup: { create: store.backUpTo },
    snapshots: createSnapshotServices({
      rows: store.snapshots,
      clock,
      root: certificates.root.identity,
      demoKey: () => demo().key(),
      flushCounters: dataPlane.limiter.flush,
      issueMissing: lifecycle.issueMissing,
      runs,
      breaks,
      traffic: createTrafficStorage({
        recorder: dataPlane.recorder,
        ids: trafficIds,
        clock,
        presentation: () => ({ ...trafficIds, redactor: redactor(), slugOf }),
      }),
      emit: events.emit,
    }),
    world: createWorldServices({
      services,
      resolve,
      deploys: store.deploys,
      owned: store.owned,
      rows: { projects, records: store.records, pets: store.pets },
      domains: lifecycle.list,
      nameServer: NAME_SERVER,
      now: () => clock.now(),
      realNow,
      ownersChanged: () => events.emit('status.changed'),
    }),
  };
}
