import { bodyOf, success } from '../base/http/answer.ts';
import { problemAnswer } from '../model/problem.ts';
import { failure } from './failures.ts';
import { endpoint, type Endpoint } from './operation.ts';
import { GET_PET_RETIREMENT } from './headers.ts';
import { listQuery, newPet, orders, pet, petParams, pets, serializerOf } from './schemas.ts';
import type { Order } from '../model/pet.ts';

/** The path of every base address. */
export const BASE_PATH = '/v1';

/** The API's base URL at an origin, without a trailing slash: `http://demo.vivarium.localhost:8080/v1`. */
export const baseUrlAt = (origin: string): string => origin + BASE_PATH;

/** The path of the OpenAPI document, relative to the base address. */
export const DOCUMENT_PATH = '/openapi.json';

const serializePet = serializerOf(pet);
const serializeOrders = serializerOf(orders);

const examplePet = { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' };

/** The table of operations: routing, validation, the OpenAPI document and the handlers all derive from it. */
export const OPERATIONS = {
  listPets: endpoint({
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
    handle({ pages }, { route, origin }, { query }) {
      const { body, next } = pages.read(route, query);
      return success(200, body, next === null ? undefined : ['Link', `<${baseUrlAt(origin)}/pets${next}>; rel="next"`]);
    },
  }),
  createPet: endpoint({
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
    // No Location header: the only address of one pet belongs to a deprecated operation.
    async handle({ pets: source }, { route }, { body }) {
      return success(201, bodyOf(serializePet(await source.add(route, body))));
    },
  }),
  getPet: endpoint({
    operationId: 'getPet',
    method: 'GET',
    path: '/pets/{petId}',
    tags: ['animals'],
    summary: 'Get an animal',
    description:
      'Removed on 5 December 2030: use GET /pets with a status filter. Every answer announces it in Deprecation, Sunset and Link.',
    params: petParams,
    success: { status: 200, description: 'The requested animal.', schema: pet, example: examplePet, headers: [] },
    failures: [400, 401, 404, 410, 429, 500, 503],
    retirement: GET_PET_RETIREMENT,
    handle({ pages }, { route }, { params: { petId } }) {
      const page = pages.one(route, petId);
      if (page !== null) return success(200, page.body);
      return problemAnswer(
        failure('not_found', `There is no pet with the id ${petId}; GET /pets lists those there are.`),
      );
    },
  }),
  listOrders: endpoint({
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
    handle: ({ orders: source }, { route }) =>
      success(200, bodyOf(serializeOrders(source.list(route).map(orderOnTheWire)))),
  }),
} satisfies Record<string, Endpoint>;

function orderOnTheWire({ createdAtMs, ...rest }: Order): Record<string, unknown> {
  return { ...rest, createdAt: new Date(createdAtMs).toISOString() };
}

/** The operations with a removal date, by their display names. */
export const SUNSETS: readonly { operation: string; atMs: number }[] = Object.values(OPERATIONS).flatMap(
  ({ method, path, retirement }) =>
    retirement === undefined ? [] : [{ operation: `${method} ${path}`, atMs: retirement.sunsetAtMs }],
);
