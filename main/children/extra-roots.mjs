/** Joins the certificates of several PEM texts, each once. */
export function joinCertificates(texts) {
  const found = texts.flatMap(
    (text) => text.match(/-----BEGIN ((?:\w+ )?CERTIFICATE)-----[^]+?-----END \1-----/g) ?? [],
  );
  return [...new Set(found)].map((certificate) => `${certificate}\n`).join('');
}
