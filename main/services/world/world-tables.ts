import { platformHostname, PLATFORM_ZONE } from '../../base/config.ts';
import { isWithin } from '../../base/text/hostname.ts';
import { CATALOGUE } from '../../breaks/catalogue/index.ts';
import { type Breakable, checkRule } from '../../breaks/check.ts';
import { VivariumError } from '../../contract/errors.ts';
import { environment as environments } from '../../contract/values.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import { normalForm, normalZone } from './world-current.ts';
import type { Plan } from './world-steps.ts';

/** Checks the tables for `vivarium examine`, as a start of each row’s break would; only what the file makes is served. */
export function planTables({ examine = {}, projects = {}, zones = {} }: ResolvedWorld, plan: Plan): void {
  const hostnames = Object.entries(projects).flatMap(([slug, { domains = {} }]) =>
    [...environments.options.map((name) => platformHostname(slug, name)), ...Object.keys(domains).map(normalForm)].map(
      (hostname) => [hostname, { projectId: slug, projectName: slug }] as const,
    ),
  );
  const served = new Map(hostnames);
  const inZone = [PLATFORM_ZONE, ...Object.keys(zones).map(normalZone), ...served.keys()];
  const breakable: Breakable = {
    catalogue: CATALOGUE,
    served: () => served,
    isInZone: (name) => inZone.some((zone) => isWithin(name, zone)),
    hasKey: () => true,
  };
  for (const [table, rows] of Object.entries(examine)) {
    for (const [index, { break: entry, on = {}, parameters = {}, first = 1, after }] of rows.entries()) {
      try {
        checkRule({ entry, on, parameters, first, after, nth: 1, seed: 0 }, breakable);
      } catch (error) {
        if (!(error instanceof VivariumError)) throw error;
        const [issue] = error.issues;
        const about = issue?.path ?? (error.message.includes(entry) ? 'break' : 'on.hostname');
        plan.refuse(['examine', table, index, ...about.split('.')], issue?.message ?? error.message);
      }
    }
  }
}
