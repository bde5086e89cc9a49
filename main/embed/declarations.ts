/**
 * The TypeScript declarations of the package `vivarium`, written by the build (`vite.main.config.ts`). They are
 * generated because the program derives its types from zod and oRPC, which the package's users do not have.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { JsonSchema } from '../cli/words/json-schema.ts';
import { listProcedures, type ProcedureAbout } from './procedures.ts';

export function makeDeclarations(): Record<string, string> {
  const files = declarationFiles();
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text.replaceAll(".ts'", ".js'")]));
}

function declarationFiles(): Record<string, string> {
  return {
    'client.d.ts': makeClient(listProcedures()),
    'types.d.ts': readFileSync(join(import.meta.dirname, 'types.ts'), 'utf8'),
    'index.d.ts': `import type { StartOptions, Vivarium } from './types.ts';

export type { Examination, ExamineError, ExamineOptions, ExamineRow, ProviderConnection, ProviderOptions, StartedWorld, StartOptions, Tenant, TenantOptions, Vivarium } from './types.ts';

/**
 * Starts a Vivarium in this process, on free ports and in memory. It keeps the process alive only while a call is
 * in progress: a test that fails before \`close\` leaves nothing behind.
 */
export declare function startVivarium(options?: StartOptions): Promise<Vivarium>;
`,
    'vitest.d.ts': `import type { TestAPI } from 'vitest';
import type { Tenant, Vivarium } from './types.ts';

/** Vitest’s \`test\` with a Vivarium that the tests of a file share, and a separate project for each test. */
export declare const test: TestAPI<{ vivarium: Vivarium; tenant: Tenant }>;
`,
    'playwright.d.ts': `import type { test as base, TestType } from '@playwright/test';
import type { Tenant, Vivarium } from './types.ts';

type Extended<Test> = Test extends TestType<infer TestArguments, infer WorkerArguments>
  ? TestType<TestArguments & { tenant: Tenant }, WorkerArguments & { vivarium: Vivarium }>
  : never;

/** Playwright’s \`test\` with a Vivarium that the tests of a worker share, and a separate project for each test. */
export declare const test: Extended<typeof base>;
`,
    'jest.d.ts': `import type { startVivarium as start } from './index.ts';

/** Jest’s environment \`node\` with the global \`startVivarium\`; its engines are closed after each file. */
declare const environment: unknown;
export default environment;

declare global {
  var startVivarium: typeof start;
}
`,
  };
}

function makeClient(procedures: readonly ProcedureAbout[]): string {
  const namespaces = Map.groupBy(procedures, ({ namespace }) => namespace);
  const members = [...namespaces].map(([name, own]) => `  ${name}: {\n${own.map(declare).join('')}  };\n`);
  return `/** Every procedure of the contract, as a function. */\nexport interface Client {\n${members.join('')}}\n`;
}

function declare({ name, summary, input, output, isStream }: ProcedureAbout): string {
  const parameter = `input${input.safeParse(undefined).success ? '?' : ''}`;
  const given = typeOf(schemaOf(input, 'input'), '    ');
  const value = typeOf(schemaOf(output, 'output'), '    ');
  const answer = isStream ? `AsyncIterable<${value}>` : `Promise<${value}>`;
  return `${comment([summary], '    ')}    ${name}(${parameter}: ${given}): ${answer};\n`;
}

const schemaOf = (type: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  type instanceof z.ZodUndefined
    ? { type: 'undefined' }
    : (z.toJSONSchema(type, { io, unrepresentable: 'any' }) as JsonSchema);

/** Converts a JSON Schema that zod generates from the contract into a TypeScript type. */
export function typeOf(schema: JsonSchema, indent = ''): string {
  const own = ownTypeOf(schema, indent);
  const all = (schema.allOf ?? []).map((part) => `(${typeOf(part, indent)})`);
  return [...(own === 'unknown' && all.length > 0 ? [] : [own]), ...all].join(' & ');
}

function ownTypeOf(schema: JsonSchema, indent: string): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return union(alternatives.map((part) => typeOf(part, indent)));
  if (schema.type === undefined) return 'unknown';
  return union([schema.type].flat().map((type) => plainType(type, schema, indent)));
}

function plainType(type: string, schema: JsonSchema, indent: string): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `Array<${typeOf(schema.items ?? {}, indent)}>`;
  return type === 'object' ? objectType(schema, indent) : type;
}

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, property]) => {
    const optional = required.includes(name) ? '' : '?';
    const type = `${typeOf(property, inner)}${optional === '' ? '' : ' | undefined'}`;
    return `${comment(aboutOf(property), inner)}${inner}${nameOf(name)}${optional}: ${type};\n`;
  });
  if (lines.length > 0) return `{\n${lines.join('')}${indent}}`;
  if (additionalProperties === undefined || additionalProperties === false) return 'Record<string, never>';
  return `Record<string, ${additionalProperties === true ? 'unknown' : typeOf(additionalProperties, indent)}>`;
}

const aboutOf = ({ description, default: value }: JsonSchema): string[] => [
  ...(description === undefined ? [] : [description]),
  ...(value === undefined ? [] : [`@default ${JSON.stringify(value)}`]),
];

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');
const nameOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

const comment = (lines: readonly string[], indent: string): string =>
  lines.length === 0 ? '' : `${indent}/** ${lines.join(' ').replaceAll('*/', '* /')} */\n`;
