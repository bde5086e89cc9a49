import type { Answer, Body } from '../base/http/answer.ts';

const NO_HEADERS: readonly string[] = [];

export function success(status: 200 | 201, body: Body, headers: readonly string[] = NO_HEADERS): Answer {
  return { status, body, headers, close: false };
}

export function noContent(headers: readonly string[]): Answer {
  return { status: 204, body: null, headers, close: false };
}
