import {
  buildSchema,
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLSchema,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { VivariumError } from '../../contract/errors.ts';
import { Refused } from '../operations.ts';
import type { Reply } from '../provider.ts';
import { SCHEMA } from './schema.ts';

/** The longest document of Railway’s own command line has a tenth of it. */
const TOKENS_MAX = 1_000;

export interface Request {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** Resolvers of the root fields, by their names. */
export type Roots = Readonly<Record<string, (args: Record<string, unknown>) => unknown>>;

let known: GraphQLSchema | null = null;

/** Names of root fields that the schema lacks: the real one may have them. */
function unknownRoots(schema: GraphQLSchema, document: DocumentNode): string[] {
  const types = new TypeInfo(schema);
  const names: string[] = [];
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const Field = ({ name }: { name: { value: string } }): void => {
    if (roots.some((root) => root === types.getParentType()) && !types.getFieldDef()) names.push(name.value);
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return names;
}

const invalid = (errors: readonly GraphQLError[]): Reply => ({
  ...{ status: 400, body: { errors, data: null } },
  isUnread: true,
});

/** Answers a document, or says by its first name what of it is not emulated. */
export async function answer(
  { query, variables, operationName }: Request,
  rootValue: Roots,
): Promise<Reply | { missing: string }> {
  const schema = (known ??= buildSchema(SCHEMA));
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: TOKENS_MAX });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return invalid([error]);
  }
  const [missing] = unknownRoots(schema, document);
  if (missing !== undefined) return { missing };
  const errors = validate(schema, document, undefined, { maxErrors: 10 });
  if (errors.length > 0) return invalid(errors);
  const result = await execute({
    ...{ schema, document, rootValue },
    variableValues: variables ?? null,
    operationName: operationName ?? null,
  });
  // An error with a path is a resolver's.
  for (const { path, originalError: error } of result.errors ?? [])
    if (path && error && !(error instanceof Refused || error instanceof VivariumError)) throw error;
  return { status: result.data === undefined ? 400 : 200, body: { ...result, data: result.data ?? null } };
}
