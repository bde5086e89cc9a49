export { createApi, type Api, type ApiOptions } from './api.ts';
export type { ApiContext } from './operation.ts';
export type { CorsSetting } from './cors.ts';
export type { Order, OrderSource, Pet, PetPage, PetSource } from './sources.ts';
export { SUNSETS } from './operations.ts';
