import { z } from 'zod';
import { contract } from '../contract/index.ts';

/**
 * Generates the OpenAPI 3.1 document of the contract, as JSON text. Loads the generator on first use: most runs never
 * need it.
 */
export async function generateOpenApi(version: string): Promise<string> {
  const { OpenAPIGenerator } = await import('@orpc/openapi');
  const generator = new OpenAPIGenerator({ schemaConverters: [zodConverter] });
  const document = await generator.generate(contract, {
    info: {
      title: 'Vivarium control',
      version,
      description: 'All procedures of a running Vivarium. Token and port are in `runtime.json` in its data folder.',
    },
    servers: [{ url: '/api' }],
    tags: Object.keys(contract).map((name) => ({ name })),
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    customErrorResponseBodySchema: (errors) => failureSchema(errors.map(([code]) => code)),
  });
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    if (item?.post !== undefined) item.post.tags = [path.split('/')[1] ?? ''];
  }
  return JSON.stringify(document);
}

/** The error body of `failure.ts`. */
function failureSchema(codes: readonly string[]) {
  return {
    type: 'object' as const,
    properties: {
      code: { enum: [...codes] },
      message: { type: 'string' as const },
      issues: {
        type: 'array' as const,
        items: {
          type: 'object' as const,
          properties: { path: { type: 'string' as const }, message: { type: 'string' as const } },
          required: ['path', 'message'],
        },
      },
    },
    required: ['code', 'message'],
  };
}

const zodConverter = {
  condition: (schema: unknown) => schema instanceof z.ZodType,
  convert(schema: unknown, { strategy }: { strategy: 'input' | 'output' }): [required: boolean, schema: object] {
    const type = schema as z.ZodType;
    const { $schema: _dialect, ...json } = z.toJSONSchema(type, { io: strategy, unrepresentable: 'any' });
    return [!type.safeParse(undefined).success, json];
  },
};
