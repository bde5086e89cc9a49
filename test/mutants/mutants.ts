import { ACME } from './list/acme.ts';
import { CAA } from './list/caa.ts';
import { DNS } from './list/dns.ts';
import { DOMAINS } from './list/domains.ts';
import { ENGINE } from './list/engine.ts';
import { EXAMINE } from './list/examine.ts';
import { LIMITS } from './list/limits.ts';
import { MANNERS } from './list/manners.ts';
import { PROVIDERS } from './list/providers.ts';
import { PROXY } from './list/proxy.ts';
import { RENDERER } from './list/renderer.ts';
import { TRAFFIC } from './list/traffic.ts';
import type { Mutant } from './mutant.ts';

/** Every mutant, area by area. */
export const MUTANTS: readonly Mutant[] = [
  ...LIMITS,
  ...ACME,
  ...CAA,
  ...DOMAINS,
  ...DNS,
  ...PROXY,
  ...PROVIDERS,
  ...TRAFFIC,
  ...ENGINE,
  ...MANNERS,
  ...EXAMINE,
  ...RENDERER,
];
