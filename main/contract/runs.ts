import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { call } from './base.ts';
import { attachStep } from './domains.ts';
import { projectName } from './projects.ts';
import { about, identifier, projectReference, timestamp } from './values.ts';

/** A command that `vivarium run` has started, and where Vivarium serves it. */
export const run = z.object({
  id: z.string(),
  projectId: identifier,
  /** The slug of its project. */
  project: z.string(),
  /** Whether it made its project, which is removed with it. */
  created: z.boolean(),
  /** Its custom hostnames; empty if it only has the platform's. */
  hostnames: z.array(z.string()),
  /** Its HTTPS addresses, custom hostnames first. */
  urls: z.array(z.url()),
  /** The ids of the records that it has put, which it holds; only listed, and only while it runs. */
  records: z.array(z.string()).optional(),
  /** Where the command listens; absent until it does. */
  target: z.url().optional(),
  pid: z.int(),
  folder: z.string(),
  command: z.string(),
  /** What follows `vivarium run` in the line that started it, without the data folder; absent if another program did. */
  asked: z.string().optional(),
  /** When it began, in real time. */
  since: timestamp,
  /** When it ended, in real time; absent while it runs. */
  endedAt: timestamp.optional(),
});
export type Run = z.infer<typeof run>;

const openedRun = run.extend({
  /** The file of the root's certificate, for programs that should trust it. */
  caFile: z.string(),
});
export type OpenedRun = z.infer<typeof openedRun>;

const mappedRun = z.object({
  run,
  /** The steps for each custom hostname. */
  domains: z.array(
    z.object({
      hostname: z.string(),
      steps: z.array(attachStep),
      /** Whether it is served over HTTP, and over HTTPS. */
      serving: z.object({ http: z.boolean(), https: z.boolean() }),
    }),
  ),
});
export type MappedRun = z.infer<typeof mappedRun>;

const closedRun = z.object({
  id: z.string(),
  /** The slug of the project that it made, which stays because it was changed meanwhile, and leads where it led. */
  kept: z.string().optional(),
});

/** Limits for paths and displayed command lines. */
const shownText = z.string().max(8_192);

export const runs = {
  hold: call('Reserve a hostname for a command, for as long as the stream is read', eventIterator(openedRun), {
    /** An existing project, whose target changes while the command runs. */
    projectId: projectReference.optional(),
    /** The name of the project, which is created if it does not exist. One of the three is required. */
    name: projectName.optional(),
    hostname: z.string().max(10_000).optional(),
    wildcard: about(z.boolean(), 'serve all names directly below the hostname too').default(false),
    keepHost: about(z.boolean(), 'send the requested hostname to the command in Host').optional(),
    pid: z.int().min(1),
    folder: shownText,
    command: shownText,
    asked: about(shownText, 'what follows vivarium run in the line that started it').optional(),
  }),
  map: call('Serve such a command at its port: target, deploy, zone, record, domain and certificate', mappedRun, {
    id: z.string().max(64),
    url: z.url({ protocol: /^https?$/ }).max(2_000),
  }),
  close: call('End the lease of such a command: undo what it changed', closedRun, { id: z.string().max(64) }),
  list: call('Commands that `vivarium run` has started, oldest first', z.array(run), {
    ended: about(z.boolean(), 'first the last 20 that have ended, one for each project').default(false),
  }),
};
