/** Pets that a dataset holds; one with more, from before this bound, keeps them and accepts none. */
export const DATASET_PETS_MAX = 100_000;
