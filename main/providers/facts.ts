import type { EpochMs } from '../base/clock.ts';
import type { Check, Domain } from '../contract/domains.ts';
import type { Services } from '../contract/index.ts';
import type { Project } from '../contract/projects.ts';
import type { ProviderId } from '../contract/provider-table.ts';

/** For calls of services, which nothing cancels. */
export const CONTEXT = { signal: undefined };

/** Who calls: the projects of one connection, which exist at this moment. */
export interface Account {
  /** 24 hexadecimal digits; the same for the same first project. */
  id: string;
  projects: readonly [ProviderProject, ...ProviderProject[]];
}

export type ProviderProject = Pick<Project, 'id' | 'name' | 'slug'>;

/** A domain of any project. */
export interface HeldDomain {
  hostname: string;
  projectId: string;
  attachedAtMs: EpochMs;
  /** Since when checks have failed; null while it is verified. */
  seriesAtMs: EpochMs | null;
}

/** A row that the engine has no place for. */
export interface ProviderItem {
  provider: ProviderId;
  kind: 'claim' | 'domain' | 'extra' | 'origin' | 'record';
  projectId: string;
  /** A hostname, or the id of a record. */
  name: string;
  createdAtMs: EpochMs;
  data: Record<string, unknown>;
}

/** The engine's facts, and the ways to change them. Services throw `VivariumError`. */
export interface World {
  services: Pick<Services, 'domains' | 'zones' | 'records' | 'certificates'>;
  now(): EpochMs;
  /** Of all projects, oldest first. */
  domains(): readonly HeldDomain[];
  /** Expects normal form. */
  held(hostname: string): HeldDomain | null;
  /** In normal form, with its registered domain; `refuse` gets the reason why a text is no hostname. */
  hostname(text: string, refuse?: (fault: string) => never): { hostname: string; apex: string };
  /** Attaches by the rules about hostnames only. */
  attach(projectId: string, hostname: string): void;
  verify(hostname: string): Promise<Domain>;
  /** Why a project could not redirect a hostname of its own; null if it could. Expects normal form. */
  redirectFault(projectId: string, hostname: string, to: string): string | null;
  /** What DNS says now, as in a verification by this provider's persona, without claims; `gate`: CAA, and the root's suffixes. */
  look(projectId: string, hostname: string): Promise<{ checks: readonly Check[]; gate: readonly Check[] }>;
  /** The values that DNS answers now; empty without any. */
  resolve(name: string, type: 'A' | 'CNAME' | 'NS' | 'TXT'): Promise<readonly string[]>;
  /** Where a project's domains point: the name for CNAMEs, and its IPv4 addresses. */
  target(project: ProviderProject): Promise<{ name: string; addresses: readonly string[] }>;
  /** The TXT record by which a project proves a claim. */
  proof(project: ProviderProject, hostname: string): { name: string; value: string };
  items: {
    list(kind: ProviderItem['kind']): readonly ProviderItem[];
    put(item: Omit<ProviderItem, 'provider' | 'createdAtMs'>): void;
    remove(item: Pick<ProviderItem, 'kind' | 'projectId' | 'name'>): void;
  };
}
