import { HIDDEN, type IsSecretName } from './secret-names.ts';

/** A string, its end missing where the body was cut; punctuation; any other run, such as a number. */
const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * Replaces the values of JSON members with secret names: strings and numbers, and those in an array. The text need not
 * be whole or valid: bodies are recorded in part, and streams have several values. Other text stays as it is.
 */
export function redactJson(text: string, isSecret: IsSecretName, hide: (secret: string) => string): string {
  if (!text.includes('"')) return text;
  let redacted = '';
  let copied = 0;
  let name: string | null = null;
  let isMember = false;
  /** Open brackets of arrays that are secret. */
  let depth = 0;
  let previous = '';
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const first = token.charAt(0);
    if (first === ':') {
      isMember = previous.startsWith('"') && isSecret(stringOf(previous));
      name = isMember ? stringOf(previous) : null;
    } else {
      if (first === '[' && (isMember || depth > 0)) depth++;
      else if (first === ']' && depth > 0) depth--;
      else if (first === '{' || first === '}') depth = 0;
      else if ((isMember || depth > 0) && isValue(token, name)) {
        redacted += text.slice(copied, index) + hidden(token, hide);
        copied = index + token.length;
      }
      isMember = false;
    }
    previous = token;
  }
  return redacted + text.slice(copied);
}

const stringOf = (token: string): string => token.slice(1, token.endsWith('"') ? -1 : undefined);

/** Strings, and numbers such as a PIN; not counts such as `max_tokens`. */
const isValue = (token: string, name: string | null): boolean =>
  token.startsWith('"') || (/^-?\d/.test(token) && name?.toLowerCase().endsWith('s') !== true);

/** In the same form, so that JSON remains JSON; one that is shortened already stays as it is. */
function hidden(token: string, hide: (secret: string) => string): string {
  if (!token.startsWith('"')) return hide(token) === HIDDEN ? `"${HIDDEN}"` : hide(token);
  const text = stringOf(token);
  return text === '' || text.endsWith(HIDDEN) ? token : `"${hide(text)}"`;
}
