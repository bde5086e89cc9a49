/**
 * The orders of one pet. Pets have no such indexes by name or category: each new pet would change a page in the middle
 * of them, making bulk inserts five times as slow (see `pet-sorted.ts`).
 */
export const ORDERS_BY_PET_SCHEMA = `
CREATE INDEX orders_by_pet ON orders (dataset_id, pet_id, id);
`;
