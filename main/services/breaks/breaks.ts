import { randomInt } from 'node:crypto';
import { CATALOGUE, pointOf } from '../../breaks/catalogue/index.ts';
import type { Breaks } from '../../breaks/breaks.ts';
import { parseDuration } from '../../contract/duration.ts';
import { DRILL_ENTRY } from '../../contract/breaks.ts';
import type { Services } from '../../contract/index.ts';
import { isReading } from '../../contract/calls.ts';
import type { Drills } from '../../drills/drills.ts';
import { z } from 'zod';
import { platformHostname } from '../../base/config.ts';
import type { StateBreak } from '../../breaks/state-break.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { TargetSetting } from '../../contract/projects.ts';
import { environment } from '../../contract/values.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import type { ProjectRow, ProjectRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';
import type { SettingsHolder } from '../settings.ts';

const SEEDS = 2 ** 32;

export const createBreakServices = (breaks: Breaks): Services['breaks'] => ({
  catalogue: () => CATALOGUE.map((entry) => ({ ...entry, at: pointOf(entry) })),
  list: breaks.list,
  start: ({ for: length, seed = randomInt(SEEDS), ...rule }) =>
    breaks.start({ ...rule, seed, forMs: parseDuration(length) }),
  stop: ({ id }) => breaks.stop(id),
  stopAll: breaks.stopAll,
});

export const createDrillServices = (drills: Drills): Services['drills'] => ({
  list: () => drills.list(),
  start: ({ drill }) => drills.start(drill),
  hint: () => drills.hint(),
  answer: (input) => drills.answer(input?.cause),
  stop: () => drills.stop(),
});

/** The public view of breaks: the running drill is one of them, without its cause, and can be stopped like them. */
export function withDrill(breaks: Breaks, drills: Drills): Breaks {
  const shown = () => [drills.shown()].filter((each) => each !== null);
  return {
    ...breaks,
    list: () => [...breaks.list(), ...shown()],
    edited: () => [...breaks.edited(), ...shown().map(({ entry }) => entry)],
    async stop(id) {
      const [drill] = shown();
      if (id !== DRILL_ENTRY || drill === undefined) return breaks.stop(id);
      await drills.stopAny();
      return drill;
    },
    async stopAll() {
      const ended = shown();
      await drills.stopAny();
      return [...(await breaks.stopAll()), ...ended];
    },
  };
}

/** Input fields that describe a call and are not secret. */
const NOTED_FIELDS = ['hostname', 'zone', 'name', 'type', 'value', 'by', 'target', 'plan'];

const NOTE_CHARACTERS_MAX = 160;

/**
 * A call as a step of a drill, such as `records.put drill.test shop`; null for calls that only read, and for those of
 * the drill itself.
 */
export function noteOf(procedure: string, input: unknown): string | null {
  if (isReading(procedure) || procedure.startsWith('drills.')) return null;
  const fields = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const noted = fields.flatMap(([name, value]) =>
    NOTED_FIELDS.includes(name) && typeof value === 'string' ? [value] : [],
  );
  return [procedure, ...noted].join(' ').slice(0, NOTE_CHARACTERS_MAX);
}

/** The port of tcpmux, where no current program listens (RFC 1078, historic). */
const DEAD_PORT = 1;
const DEAD_RESOLVER = `127.0.0.1:${DEAD_PORT}`;

const keptResolver = z.object({ before: z.string() });

/** Makes verification and CAA checks query a server that does not exist. */
export function resolverBreak({
  settings,
  changed,
}: {
  settings: Pick<SettingsHolder, 'current' | 'update'>;
  changed: () => void;
}): StateBreak {
  function put(resolver: string): void {
    settings.update({ resolver });
    changed();
  }
  return {
    prepare() {
      const detail: z.infer<typeof keptResolver> = { before: settings.current().resolver };
      return { edits: 'the setting resolver', detail };
    },
    apply({ detail }) {
      if (settings.current().resolver === keptResolver.parse(detail).before) put(DEAD_RESOLVER);
    },
    undo({ detail }, _target, leave) {
      const { before } = keptResolver.parse(detail);
      if (settings.current().resolver === DEAD_RESOLVER) put(before);
      else if (settings.current().resolver !== before) leave('the setting resolver');
    },
  };
}

const keptTarget = z.object({ projectId: z.string(), before: z.unknown(), broken: z.unknown() });

/** Points the project of a hostname at a port of its upstream's machine where nothing answers. */
export function upstreamBreak({
  projects,
  domains,
  changed,
}: {
  projects: Pick<ProjectRows, 'get' | 'list' | 'update'>;
  domains: Pick<Lifecycle, 'find'>;
  changed: () => void;
}): StateBreak {
  function projectOf(hostname: string): ProjectRow | null {
    const domain = domains.find(hostname);
    if (domain !== null) return projects.get(domain.projectId);
    const isOf = (slug: string) => environment.options.some((each) => platformHostname(slug, each) === hostname);
    return projects.list().find(({ slug }) => isOf(slug)) ?? null;
  }

  const isSame = (target: TargetSetting, kept: unknown): boolean => JSON.stringify(target) === JSON.stringify(kept);

  /** Changes the target if it is `from`; otherwise does nothing. */
  function put(projectId: string, from: unknown, to: unknown): void {
    const project = projects.get(projectId);
    if (project === null || !isSame(project.target, from)) return;
    projects.update(projectId, { target: to as TargetSetting });
    changed();
  }

  return {
    prepare({ on: { hostname } }) {
      if (hostname === undefined) throw inputError('on.hostname', 'is required: a hostname of the project.');
      const project = projectOf(hostname);
      if (project === null) throw notFound(`${hostname} is not served.`);
      const { target, slug } = project;
      if (target.kind !== 'upstream') {
        const how = 'Choose a project with one, or connect one: `projects.update`.';
        throw conflict(`${hostname} is answered by the built-in API, not by an upstream. ${how}`);
      }
      const url = new URL(target.url);
      // The URL parser would drop the default port of a scheme.
      url.port = String(DEAD_PORT);
      const broken: TargetSetting = { ...target, url: url.href };
      const detail: z.infer<typeof keptTarget> = { projectId: project.id, before: target, broken };
      return { edits: `target of ${slug}`, detail };
    },
    apply({ detail }) {
      const { projectId, before, broken } = keptTarget.parse(detail);
      put(projectId, before, broken);
    },
    undo({ detail, edits }, _target, leave) {
      const { projectId, before, broken } = keptTarget.parse(detail);
      const now = projects.get(projectId)?.target;
      if (now !== undefined && !isSame(now, broken) && !isSame(now, before)) leave(edits);
      put(projectId, broken, before);
    },
  };
}

/** Stops the database from growing, as a full disk does. The limit ends with the process; each start sets it again. */
export const diskBreak = (quota: { limit: () => void; lift: () => void }): StateBreak => ({
  prepare: () => ({ edits: 'room on the disk', detail: null }),
  apply: () => quota.limit(),
  undo: () => quota.lift(),
});

const keptPort = z.object({ port: z.number() });

/** Takes the port on which ACME clients answer the CA, as another program would. */
export function portBreak({
  port,
  holdAt,
}: {
  port: () => number;
  /** Listens until `release`. @throws VivariumError `conflict` if the port cannot be opened */
  holdAt: (port: number) => { open: () => Promise<void>; release: () => Promise<void> };
}): StateBreak {
  let held: ReturnType<typeof holdAt> | null = null;
  return {
    prepare: () => ({ edits: `port ${port()}`, detail: { port: port() } satisfies z.infer<typeof keptPort> }),
    async apply({ detail }) {
      held = holdAt(keptPort.parse(detail).port);
      await held.open();
    },
    async undo() {
      await held?.release();
      held = null;
    },
  };
}
