/** The code of a system or SQLite error (`ENOSPC`, `SQLITE_FULL`); null if it has none. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The meaning of errno(3) codes for users of files; rarer codes are shown as they are. */
const REASONS: Readonly<Record<string, string | undefined>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reported an error',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file',
  EISDIR: 'it is a folder',
  EEXIST: 'there is another file of that name',
  EBUSY: 'another program uses it',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/** Whether it is the system's refusal to use a file. */
export const isAboutFile = (error: unknown): boolean => Object.hasOwn(REASONS, codeOf(error) ?? '');

/** Why a file could not be used, for use in parentheses. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === null) return messageOf(error);
  return REASONS[code] ?? code;
}
