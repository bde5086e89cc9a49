import type { BreakSelection, RunningBreak } from '../contract/breaks.ts';
import { conflict, type VivariumError } from '../contract/errors.ts';
import type { KeptUndo } from '../model/fault.ts';
import { CNAME_TARGET } from '../base/config.ts';
import { absoluteText, type DomainName } from '../model/dns-name.ts';

/**
 * An entry that edits state: records, certificates, settings. Its inverse is stored before the edit is made, so the
 * edit can be undone even after `kill -9` at any moment.
 */
export interface StateBreak {
  /**
   * Determines the edit and its inverse without changing anything. `edits` names the edited state, such as
   * `records shop.acme.test`; a second break of the same state is refused.
   * @throws VivariumError when there is nothing to break, such as for a hostname that is not attached.
   */
  prepare(target: StateBreakTarget): KeptUndo | Promise<KeptUndo>;
  /** Makes the edit. Also called at each start of the engine while the break runs; does nothing if already made. */
  apply(undo: KeptUndo, target: StateBreakTarget): void | Promise<void>;
  /**
   * Restores the previous state exactly, except where it has been changed or removed since. Harmless if the edit was
   * never made, or is already undone: after `kill -9`, the next start calls it again.
   * @param leave reports state that is kept because it was changed, such as `records shop.acme.test`
   */
  undo(undo: KeptUndo, target: StateBreakTarget, leave: (what: string) => void): void | Promise<void>;
}

export interface StateBreakTarget {
  on: BreakSelection;
  parameters: RunningBreak['parameters'];
}

/** By entry id. */
export type StateBreaks = ReadonlyMap<string, StateBreak>;

/** Refuses to edit what a drill has edited. */
export const ofDrill = (what: string): VivariumError =>
  conflict(`A drill has broken this (${what}). End it first: \`drills.stop\`.`);

/** The state of a custom domain before a break. */
export interface DomainFacts {
  hostname: string;
  kind: 'apex' | 'subdomain';
  /** The apex of its zone. */
  zone: DomainName;
  supportsAlias: boolean;
  verifiedBefore: boolean;
  /** The current records at a name, in zone-file notation with absolute names. */
  at: (name: DomainName) => readonly ZoneRecord[];
  parameters: Readonly<Record<string, string | number>>;
}

export interface ZoneRecord {
  type: string;
  ttlSeconds: number;
  value: string;
}

/** The changes at one name: types to remove, and records to add. */
export interface NameEdit {
  name: DomainName;
  drop: readonly string[];
  add: readonly ZoneRecord[];
  /** When added records become visible; immediately if omitted. */
  afterMs?: number;
}

/** The edits, or a sentence that explains why this domain cannot be broken that way. */
export type DomainEdits = readonly NameEdit[] | string;

/** Types that determine where a hostname points. */
export const LEADING = ['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME'];

/** The loopback address of a local proxy while `domain.proxied` runs. */
export const PROXY_ADDRESS = '127.0.0.3';

export const TARGET = absoluteText(CNAME_TARGET);

export function ofSubdomain({ hostname, kind, zone }: DomainFacts, edits: () => DomainEdits): DomainEdits {
  if (kind === 'subdomain' && hostname !== zone) return edits();
  return `it is the apex of its zone, which cannot have a CNAME; choose a subdomain.`;
}

export const ofApex = ({ kind }: DomainFacts, edits: () => DomainEdits): DomainEdits =>
  kind === 'apex' ? edits() : 'it is a subdomain, which has a CNAME; choose an apex.';

/** Replaces the records that determine where the hostname points. */
export const leading = ({ hostname }: DomainFacts, ...add: ZoneRecord[]): NameEdit => ({
  name: hostname,
  drop: LEADING,
  add,
});

/** The records from the domain's instructions. */
export function rightRecords(facts: DomainFacts): ZoneRecord[] {
  if (facts.kind === 'subdomain' && facts.hostname !== facts.zone) return [record(facts, 'CNAME', TARGET)];
  if (facts.supportsAlias) return [record(facts, 'ALIAS', TARGET)];
  return [record(facts, 'A', '127.0.0.1'), record(facts, 'AAAA', '::1')];
}

/** A CNAME chain from the hostname through the names. */
export function chain(facts: DomainFacts, names: readonly DomainName[]): NameEdit[] {
  return names.map((target, index) => {
    const cname = record(facts, 'CNAME', absoluteText(target));
    const before = names[index - 1];
    return before === undefined ? leading(facts, cname) : { name: before, drop: LEADING, add: [cname] };
  });
}

/** A record with the TTL of the existing ones. */
export function record({ hostname, at }: DomainFacts, type: string, value: string): ZoneRecord {
  const present = at(hostname).find((each) => LEADING.includes(each.type));
  return { type, ttlSeconds: present?.ttlSeconds ?? 300, value };
}
