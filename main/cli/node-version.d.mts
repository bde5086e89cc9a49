export function isNodeNewEnough(): boolean;
export const NODE_WANTED: string;
export const NODE_RANGE: string;
export function pinnedNode(root: string): string;
export const PROGRAM_FLAGS: readonly string[];
