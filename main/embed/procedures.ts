import { getEventIteratorSchemaDetails } from '@orpc/contract';
import { z } from 'zod';
import { contract } from '../contract/index.ts';

export type ProcedureAbout = ReturnType<typeof listProcedures>[number];

type Definition = { '~orpc': { route: { summary?: string }; inputSchema?: unknown; outputSchema?: unknown } };

const definitions = contract as unknown as Record<string, Record<string, Definition>>;

export function listProcedures() {
  return Object.entries(definitions).flatMap(([namespace, members]) =>
    Object.entries(members).map(([name, { '~orpc': definition }]) => {
      const { route, inputSchema, outputSchema } = definition;
      const values = valuesOf(outputSchema);
      return {
        ...{ namespace, name, summary: route.summary ?? '' },
        input: inputSchema instanceof z.ZodType ? inputSchema : z.undefined(),
        /** The schema of the result; for a stream, of one value. */
        output: asZod(values ?? outputSchema),
        isStream: values !== null,
      };
    }),
  );
}

/** The schema of a stream's values; null if the procedure returns a single answer. */
function valuesOf(schema: unknown): unknown {
  if (schema instanceof z.ZodType) return null;
  return getEventIteratorSchemaDetails(schema as Parameters<typeof getEventIteratorSchemaDetails>[0])?.yields ?? null;
}

const asZod = (schema: unknown): z.ZodType => (schema instanceof z.ZodType ? schema : z.unknown());
