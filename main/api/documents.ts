import { bodyOf, type Body } from '../base/http/answer.ts';
import { openApiText } from './openapi.ts';
import type { Operation } from './operation.ts';

/** A project has two base addresses, and each of its hostnames has them over HTTP and HTTPS. */
const DOCUMENTS_MAX = 64;

/** The OpenAPI document per base address, made when it is first asked for. */
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
