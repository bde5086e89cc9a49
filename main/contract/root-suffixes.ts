/**
 * The suffixes that a new root permits: reserved names without an owner in the public DNS, which make a stolen root key
 * useless against public websites. `main/ca/README.md` explains the choice.
 */
export const DEFAULT_SUFFIXES = ['localhost', 'test', 'example', 'internal'] as const;
