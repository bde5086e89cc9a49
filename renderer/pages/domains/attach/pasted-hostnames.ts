/** The hostname of a URL, such as one copied from an address bar; other text unchanged. */
function hostnameIn(typed: string): string {
  const text = typed.trim();
  return /^https?:\/\//i.test(text) ? (URL.parse(text)?.hostname ?? text) : text;
}

/** The hostnames of a text: one a line, each once, so that a line with a space is refused as a whole. */
export const hostnamesIn = (typed: string): string[] =>
  typed.trim().includes('\n')
    ? [
        ...new Set(
          typed
            .split(/[\n,;]/)
            .map(hostnameIn)
            .filter(Boolean),
        ),
      ]
    : [hostnameIn(typed)];
