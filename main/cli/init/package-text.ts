/** A string, its escapes included, a mark, or any other value. */
const TOKEN = /"(?:[^"\\]|\\[^])*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Where a member of an object in JSON text is. */
interface Place {
  /** Its name, quotes included. */
  name: { start: number; end: number };
  value: { start: number; end: number };
}

/**
 * Replaces the text of scripts in `package.json`, and adds missing ones after `after`. Everything else stays
 * as written.
 */
export function withScripts(text: string, scripts: Readonly<Record<string, string>>, after: string): string {
  let changed = text;
  for (const [name, script] of Object.entries(scripts)) {
    const found = findScript(changed, name);
    const value = JSON.stringify(script);
    if (found !== null) {
      changed = changed.slice(0, found.value.start) + value + changed.slice(found.value.end);
      continue;
    }
    const before = findScript(changed, after);
    if (before === null) throw new Error(`There is no script ${after}.`);
    const space = /\s*$/.exec(changed.slice(0, before.name.start))?.[0] ?? '';
    const colon = changed.slice(before.name.end, before.value.start);
    const added = `,${space}${JSON.stringify(name)}${colon}${value}`;
    changed = changed.slice(0, before.value.end) + added + changed.slice(before.value.end);
  }
  return changed;
}

/** The last member of that name counts, as it does for `JSON.parse`. */
function findScript(text: string, name: string): Place | null {
  const path: string[] = [];
  let found: Place | null = null;
  let member: { name: string; start: number; end: number } | null = null;
  let last = '';
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const [start, end] = [index, index + token.length];
    if (token === '{' || token === '[') {
      path.push(last === ':' ? (member?.name ?? '') : '');
    } else if (token === '}' || token === ']') {
      path.pop();
    } else if (last === ':' && path.length === 2 && path[1] === 'scripts' && member?.name === name) {
      found = { name: { start: member.start, end: member.end }, value: { start, end } };
    } else if (token.startsWith('"') && last !== ':') {
      member = { name: JSON.parse(token) as string, start, end };
    }
    last = token;
  }
  return found;
}
