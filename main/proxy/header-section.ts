/** The header data that the authority and identify stages need, gathered in one pass. */
export interface HeaderSurvey {
  fields: number;
  /** The first `Host` field; null if absent. */
  host: string | null;
  hostFields: number;
  authorization: string | null;
  authorizationFields: number;
  transferEncoding: string | null;
}

/**
 * Scans `rawHeaders` (name, value, …). Node's `headers` silently drops a second `Host`, which enables request
 * smuggling.
 */
export function surveyHeaders(rawHeaders: readonly string[]): HeaderSurvey {
  const survey: HeaderSurvey = {
    fields: rawHeaders.length >> 1,
    host: null,
    hostFields: 0,
    authorization: null,
    authorizationFields: 0,
    transferEncoding: null,
  };
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // Comparing the length first skips nearly every field cheaply.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      survey.hostFields++;
      survey.host ??= rawHeaders[index + 1] as string;
    } else if (name.length === 13 && name.toLowerCase() === 'authorization') {
      survey.authorizationFields++;
      survey.authorization ??= rawHeaders[index + 1] as string;
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      survey.transferEncoding = rawHeaders[index + 1] as string;
    }
  }
  return survey;
}
