/** Defined in the contract, whose traffic filter runs in the page too. */
export { didYouMean, nearest } from '../contract/nearest.ts';
