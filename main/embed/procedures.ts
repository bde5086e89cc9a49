import { getEventIteratorSchemaDetails } from '@orpc/contract';
import { z } from 'zod';
import { contract } from '../contract/index.ts';

export interface ProcedureAbout {
  namespace: string;
  name: string;
  summary: string;
  input: z.ZodType;
  /** The schema of the result; for a stream, of one value. */
  output: z.ZodType;
  isStream: boolean;
}

type Definition = { '~orpc': { route: { summary?: string }; inputSchema?: unknown; outputSchema?: unknown } };

const definitions = contract as unknown as Record<string, Record<string, Definition>>;

export function listProcedures(): ProcedureAbout[] {
  return Object.entries(definitions).flatMap(([namespace, members]) =>
    Object.entries(members).map(
      ([
        name,
        {
          '~orpc': { route, inputSchema, outputSchema },
        },
      ]) => {
        const values = valuesOf(outputSchema);
        return {
          namespace,
          name,
          summary: route.summary ?? '',
          input: inputSchema instanceof z.ZodType ? inputSchema : z.undefined(),
          output: asZod(values ?? outputSchema),
          isStream: values !== null,
        };
      },
    ),
  );
}

/** The schema of a stream's values; null if the procedure returns a single answer. */
function valuesOf(schema: unknown): unknown {
  if (schema instanceof z.ZodType) return null;
  return getEventIteratorSchemaDetails(schema as Parameters<typeof getEventIteratorSchemaDetails>[0])?.yields ?? null;
}

const asZod = (schema: unknown): z.ZodType => (schema instanceof z.ZodType ? schema : z.unknown());
