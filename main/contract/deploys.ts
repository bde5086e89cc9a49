import { z } from 'zod';
import { base } from './base.ts';
import { identifier, projectReference, timestamp } from './values.ts';

export const deploy = z.object({
  id: identifier,
  status: z.enum(['succeeded', 'failed']),
  reason: z.string().optional(),
  createdAt: timestamp,
});
export type Deploy = z.infer<typeof deploy>;

const input = z.strictObject({ projectId: projectReference });

export const deploys = {
  create: base.route({ summary: 'Deploy: check that the project’s target answers' }).input(input).output(deploy),
  list: base.route({ summary: 'A project’s deploys, newest first, at most 100' }).input(input).output(z.array(deploy)),
};
