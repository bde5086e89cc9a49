import type { Connection } from './connection.ts';

/** Serials of zones; see the schema for where they come from. */
export interface Serials {
  /** One later than every serial given before; to be called within the transaction that changes the zone. */
  next(): number;
  /** The platform zone's serial: the one it had with the same contents, else the next. */
  ofPlatform(contentsDigest: string): number;
}

export function createSerials({ sqlite, guarded, transactional }: Connection): Serials {
  // RFC 1982 §3.1: after the largest number of 32 bits comes a small one again; 0 is left out, as some servers read it as none.
  const advance = sqlite.prepare<[], number>('UPDATE serials SET last = last % 4294967295 + 1 RETURNING last').pluck();
  const platform = sqlite.prepare<[], { serial: number; contents: string }>(
    'SELECT platform AS serial, platform_contents AS contents FROM serials',
  );
  const setPlatform = sqlite.prepare<[number, string]>('UPDATE serials SET platform = ?, platform_contents = ?');

  const next = (): number => {
    const serial = advance.get();
    if (serial === undefined) throw new Error('The row of serials is missing.');
    return serial;
  };
  const advancePlatform = transactional((contents: string) => {
    const serial = next();
    setPlatform.run(serial, contents);
    return serial;
  });

  return {
    next,
    ofPlatform: guarded((contentsDigest: string) => {
      const stored = platform.get();
      return stored?.contents === contentsDigest ? stored.serial : advancePlatform(contentsDigest);
    }),
  };
}
