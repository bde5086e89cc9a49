import { type AnySchema, oc } from '@orpc/contract';
import { z } from 'zod';
import { ERROR_CATALOGUE } from './errors.ts';

/** Data of an error: every invalid place of the input, with what is allowed there. */
const issue = z.object({
  path: z.string(),
  message: z.string(),
  forcible: z.literal(true).optional(),
  line: z.int().optional(),
  column: z.int().optional(),
});
const errorData = z.object({ issues: z.array(issue) }).optional();

const describe = <Code extends keyof typeof ERROR_CATALOGUE>(code: Code) => ({
  status: ERROR_CATALOGUE[code].status,
  message: ERROR_CATALOGUE[code].title,
  data: errorData,
});

/** The errors that every procedure can return. */
const base = oc.errors({
  invalid_request: describe('invalid_request'),
  unauthorized: describe('unauthorized'),
  forbidden: describe('forbidden'),
  not_found: describe('not_found'),
  conflict: describe('conflict'),
  hostname_invalid: describe('hostname_invalid'),
  hostname_reserved: describe('hostname_reserved'),
  plan_required: describe('plan_required'),
  deploy_required: describe('deploy_required'),
  in_use: describe('in_use'),
  internal_error: describe('internal_error'),
  unavailable: describe('unavailable'),
});

type Input = z.ZodType | z.ZodRawShape;
type ObjectOf<Shape extends z.ZodRawShape> = z.ZodObject<Shape, z.core.$strict>;
type SchemaOf<Given extends Input> = Given extends z.ZodType
  ? Given
  : Given extends z.ZodRawShape
    ? Record<never, never> extends z.input<ObjectOf<Given>>
      ? z.ZodOptional<ObjectOf<Given>>
      : ObjectOf<Given>
    : never;

/**
 * A procedure: what it does, its output and its input. The members of an input are enough; without a required one among
 * them, the input may be omitted.
 */
export function call<Output extends AnySchema, const Given extends Input = Record<never, never>>(
  summary: string,
  output: Output,
  input?: Given,
) {
  return base
    .route({ summary })
    .input(schemaOf(input ?? {}) as SchemaOf<Given>)
    .output(output);
}

function schemaOf(input: Input): z.ZodType {
  if (input instanceof z.ZodType) return input;
  const schema = z.strictObject(input as Record<string, z.ZodType>);
  return Object.values(schema.shape).every((member) => member.isOptional()) ? schema.optional() : schema;
}
