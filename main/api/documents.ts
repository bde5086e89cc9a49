import { bodyOf, type Body } from '../base/http/answer.ts';
import { openApiText } from './openapi.ts';
import type { Operation } from './operation.ts';

/** A project has two base addresses, each over HTTP and HTTPS for every hostname. */
const DOCUMENTS_MAX = 64;

/** The OpenAPI document of each base address, generated on first use. */
export function createDocuments(operations: readonly Operation[]): (baseUrl: string) => Body {
  const documents = new Map<string, Body>();
  return (baseUrl) => {
    const known = documents.get(baseUrl);
    if (known !== undefined) return known;
    const document = bodyOf(openApiText(operations, baseUrl));
    if (documents.size >= DOCUMENTS_MAX) documents.clear();
    documents.set(baseUrl, document);
    return document;
  };
}
