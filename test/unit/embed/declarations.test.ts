import { expect, it } from 'vitest';
import { makeDeclarations, typeOf } from '../../../main/embed/declarations.ts';

it.each<[Parameters<typeof typeOf>[0], string]>([
  [{}, 'unknown'],
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ const: 'api' }, '"api"'],
  [{ const: null }, 'null'],
  [{ type: 'number', enum: [301, 302] }, '301 | 302'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { const: 1 }] } }, 'Array<string | 1>'],
  [{ oneOf: [{ type: 'string' }, { type: 'string' }] }, 'string'],
  [{ type: 'object' }, 'Record<string, never>'],
  [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Record<string, boolean>'],
  [{ type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
  [{ allOf: [{ type: 'string' }, { const: 'a' }] }, '(string) & ("a")'],
  [
    {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string', description: 'ends a comment: */' }, 'b-c': { default: 1, type: 'number' } },
    },
    '{\n  /** ends a comment: * / */\n  a: string;\n  /** @default 1 */\n  "b-c"?: number | undefined;\n}',
  ],
])('%j is %s in TypeScript', (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});

it('the declarations depend on no package except the test runners’', () => {
  const imported = Object.values(makeDeclarations()).flatMap((text) =>
    [...text.matchAll(/ from '([^']+)'/g)].map(([, name = '']) => name),
  );
  const own = ['./client.js', './index.js', './types.js'];
  expect([...new Set(imported)].toSorted()).toEqual([...own, '@playwright/test', 'vitest']);
});
