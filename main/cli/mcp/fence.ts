import { normalizeHostname } from '../../base/text/hostname.ts';
import type { Domain } from '../../contract/domains.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Project } from '../../contract/projects.ts';
import { isWildcard, wildcardOver } from '../../contract/wildcards.ts';
import { procedureNamed } from '../words/procedures.ts';
import type { Ask } from './repair.ts';

/**
 * Restricts all calls to one project: it is the default of `ask`, lists omit other projects, and calls
 * for another project are refused. Zones, the clock and the machine are shared.
 * @throws VivariumError `not_found` when there is no such project.
 */
export async function fenced(ask: Ask, project: string): Promise<Ask> {
  const own = await ask<Project>('projects.get', { projectId: project });

  const refused = (what: string): VivariumError =>
    new VivariumError(
      'forbidden',
      `${what} belongs to another project. This server was started for "${own.slug}" only.`,
    );

  function inOwn(procedure: string, input: Record<string, unknown>): Record<string, unknown> {
    if (procedureNamed(procedure).input.properties?.['projectId'] === undefined) return input;
    const { projectId = own.id } = input;
    if ([own.id, own.slug, own.name].includes(String(projectId))) return { ...input, projectId: own.id };
    throw refused(JSON.stringify(projectId));
  }

  async function checkHostname(hostname: string): Promise<void> {
    const read = normalizeHostname(hostname);
    // The engine reports the fault.
    if (!read.ok) return;
    const names = [read.hostname, wildcardOver(read.hostname)];
    const [domains, projects] = await Promise.all([ask<Domain[]>('domains.list'), ask<Project[]>('projects.list')]);
    const holder =
      domains.find((domain) => names.includes(domain.hostname))?.projectId ??
      projects.find(({ baseUrl }) => Object.values(baseUrl).some((url) => new URL(url).hostname === read.hostname))?.id;
    if (holder !== undefined && holder !== own.id) throw refused(hostname);
  }

  /** Breaks may only affect this project's hostnames. */
  async function checkBreak(on: unknown): Promise<void> {
    const hostname = typeof on === 'object' && on !== null && 'hostname' in on ? on.hostname : undefined;
    if (typeof hostname === 'string' && !isWildcard(hostname)) return checkHostname(hostname);
    const why = `This server was started for "${own.slug}" only`;
    throw new VivariumError('forbidden', `${why}: name one of its hostnames in on.hostname, without a wildcard.`);
  }

  const isForeign = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'projectId' in value && value.projectId !== own.id;

  /** Removes items of other projects. */
  function ownPart(procedure: string, value: unknown): unknown {
    if (procedure === 'projects.list') return [own];
    if (Array.isArray(value)) return value.filter((item) => !isForeign(item));
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.entries(value).map(([name, part]) => [name, Array.isArray(part) ? ownPart('', part) : part]);
    return Object.fromEntries(parts);
  }

  return async <Answer>(procedure: string, input: object = {}): Promise<Answer> => {
    const words = inOwn(procedure, input as Record<string, unknown>);
    if (typeof words['hostname'] === 'string') await checkHostname(words['hostname']);
    if (procedure === 'breaks.start') await checkBreak(words['on']);
    const answer = await ask<unknown>(procedure, words);
    if (isForeign(answer)) throw refused('The result');
    return ownPart(procedure, answer) as Answer;
  };
}
