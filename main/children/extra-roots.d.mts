export function joinCertificates(texts: readonly string[]): string;
