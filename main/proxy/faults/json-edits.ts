/** A JSON string, or an integer outside of strings. */
const STRING_OR_INTEGER = /"(?:[^"\\]|\\.)*"|-?\b\d+\b(?![.eE])/g;

/** The text with each integer beyond ±(2^53−1) as a double has it; null without one. */
export function roundIntegers(json: string): string | null {
  let found = false;
  const text = json.replace(STRING_OR_INTEGER, (token) => {
    if (token.startsWith('"') || Number.isSafeInteger(Number(token))) return token;
    const rounded = BigInt(Number(token)).toString();
    found ||= rounded !== token;
    return rounded;
  });
  return found ? text : null;
}

/** An object without objects in it, with its first name; strings may have braces. */
const FLAT_OBJECT = /\{\s*("(?:[^"\\]|\\.)*")\s*:(?:[^"{}]|"(?:[^"\\]|\\.)*")*\}/;

/** The text with the first name of an object repeated at its end, with null; null without an object. */
export function repeatKey(json: string): string | null {
  const found = FLAT_OBJECT.exec(json);
  if (found === null) return null;
  const [whole, name = ''] = found;
  return json.replace(whole, () => `${whole.slice(0, -1)},${name}:null}`);
}

/** The bytes with two in a string that are not UTF-8; null without a string. */
export function spoilText(json: Buffer): Buffer | null {
  const at = json.lastIndexOf('"');
  return at === -1 ? null : Buffer.concat([json.subarray(0, at), Buffer.from([0xc3, 0x28]), json.subarray(at)]);
}

const ID = /"id"\s*:\s*(-?\d+)/g;

/** The id before the last of a list: the one to continue after, so that the last is repeated; null without two. */
export function idBeforeLast(json: string): string | null {
  const ids = [...json.matchAll(ID)].map(([, id]) => id);
  return ids.at(-2) ?? null;
}
