import type { z } from 'zod';
import type { HeaderName } from './headers.ts';
import { GET_PET_RETIREMENT, type Retirement } from './retirement.ts';
import { listQuery, newPet, orders, pet, petParams, pets } from './schemas.ts';

/** The path of every base address. */
export const BASE_PATH = '/v1';

/** Where the description of the API is, relative to the base address. */
export const DOCUMENT_PATH = '/openapi.json';

/** The statuses other than success that an operation documents; each has the Error body. */
export type FailureStatus = 400 | 401 | 404 | 410 | 413 | 415 | 429 | 500 | 503;

/** One operation of the API: routed, validated, serialised and described from this one value. */
export interface Operation {
  operationId: string;
  method: 'GET' | 'POST';
  /** An OpenAPI path template relative to the base address: `/pets/{petId}`. */
  path: `/${string}`;
  tags: readonly string[];
  summary: string;
  description: string;
  query?: z.ZodObject;
  params?: z.ZodObject;
  body?: { schema: z.ZodObject; example: unknown };
  success: {
    status: 200 | 201;
    description: string;
    schema: z.ZodType;
    example: unknown;
    headers: readonly HeaderName[];
  };
  failures: readonly FailureStatus[];
  retirement?: Retirement;
  /** Emitted as the extension `x-stability`. */
  stability?: 'experimental' | 'beta';
}

const examplePet = { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' };

export const OPERATIONS = {
  listPets: {
    operationId: 'listPets',
    method: 'GET',
    path: '/pets',
    tags: ['animals'],
    summary: 'List all animals',
    description: 'Animals by ascending id. While more of them match, the Link header leads to the next page.',
    query: listQuery,
    success: {
      status: 200,
      description: 'A paginated list of animals.',
      schema: pets,
      example: [examplePet],
      headers: ['Link'],
    },
    failures: [400, 401, 429, 500, 503],
  },
  createPet: {
    operationId: 'createPet',
    method: 'POST',
    path: '/pets',
    tags: ['animals'],
    summary: 'Add an animal',
    description: 'Adds an animal. Without a status it is available; properties other than these are ignored.',
    body: { schema: newPet, example: { name: 'Biscuit', categoryId: 1, status: 'available' } },
    success: {
      status: 201,
      description: 'Animal added; the body carries the assigned id.',
      schema: pet,
      example: examplePet,
      headers: [],
    },
    failures: [400, 401, 413, 415, 429, 500, 503],
  },
  getPet: {
    operationId: 'getPet',
    method: 'GET',
    path: '/pets/{petId}',
    tags: ['animals'],
    summary: 'Get an animal',
    description:
      'Deprecated: use GET /pets with a status filter. Removed on 5 December 2030; every answer says so in Deprecation, Sunset and Link, and from that day on the answer is 410.',
    params: petParams,
    success: { status: 200, description: 'The requested animal.', schema: pet, example: examplePet, headers: [] },
    failures: [400, 401, 404, 410, 429, 500, 503],
    retirement: GET_PET_RETIREMENT,
  },
  listOrders: {
    operationId: 'listOrders',
    method: 'GET',
    path: '/store/orders',
    tags: ['Store'],
    summary: 'List the orders',
    description:
      'All orders of the project in this environment, by ascending id. The shape of an order is Vivarium’s own: the specification of the API shows nothing of this endpoint. Orders are placed in the app.',
    success: {
      status: 200,
      description: 'The orders; an empty array until some are placed.',
      schema: orders,
      example: [{ id: 1, petId: 1, quantity: 1, status: 'placed', createdAt: '2026-11-20T09:00:00.000Z' }],
      headers: [],
    },
    failures: [401, 429, 500, 503],
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** The operations that are removed one day, as people know them. */
export const SUNSETS: readonly { operation: string; atMs: number }[] = Object.values<Operation>(OPERATIONS).flatMap(
  ({ method, path, retirement }) =>
    retirement === undefined ? [] : [{ operation: `${method} ${path}`, atMs: retirement.sunsetAtMs }],
);
