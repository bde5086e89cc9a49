import { VivariumError } from '../contract/errors.ts';
import { bodyOf, success, type Answer } from './answer.ts';
import type { ApiRequestContext } from './exchange.ts';
import type { OperationId } from './operations.ts';
import { createPages } from './pages.ts';
import { orders as ordersSchema, pet as petSchema, type ListQuery, type NewPet, type PetParams } from './schemas.ts';
import { serializerOf } from './serializer.ts';
import type { Order, OrderSource, PetSource } from './sources.ts';

/** The validated parts of a request. An operation without such a part must not look at it. */
export interface OperationInput {
  query: unknown;
  params: unknown;
  body: unknown;
}

/**
 * What an operation does. Its input has passed the operation's schemas, which is what the assertions below rely on.
 * @throws VivariumError, which is answered with its code and status.
 */
export type Handler = (context: ApiRequestContext, input: OperationInput) => Answer | Promise<Answer>;

export interface HandlerDependencies {
  pets: PetSource;
  orders: OrderSource;
}

/** One handler for every operation; an operation without one does not compile. */
export function createHandlers({ pets, orders }: HandlerDependencies): Record<OperationId, Handler> {
  const pages = createPages(pets);
  const serializePet = serializerOf(petSchema);
  const serializeOrders = serializerOf(ordersSchema);

  return {
    listPets({ dataset, baseUrl }, { query }) {
      const { body, next } = pages.read(dataset, query as ListQuery);
      return success(200, body, next === null ? undefined : ['Link', `<${baseUrl}/pets${next}>; rel="next"`]);
    },

    // Without a Location header, on purpose: the only address of one pet is that of an operation on its way out.
    async createPet({ dataset }, { body }) {
      const { name, categoryId, status } = body as NewPet;
      return success(201, bodyOf(serializePet(await pets.add(dataset, { name, categoryId, status }))));
    },

    getPet({ dataset }, { params }) {
      const { petId } = params as PetParams;
      const pet = pets.get(dataset, petId);
      if (pet === null) {
        throw new VivariumError('not_found', `There is no pet with the id ${petId}; GET /pets lists those there are.`);
      }
      return success(200, bodyOf(serializePet(pet)));
    },

    listOrders: ({ dataset }) => success(200, bodyOf(serializeOrders(orders.list(dataset).map(orderOnTheWire)))),
  };
}

function orderOnTheWire({ createdAtMs, ...order }: Order): Record<string, unknown> {
  return { ...order, createdAt: new Date(createdAtMs).toISOString() };
}
