export function isNodeNewEnough(): boolean;
export const NODE_WANTED: string;
