/** What the authority and identify stages need to know of a header section, gathered in one pass. */
export interface HeaderSurvey {
  fields: number;
  /** The first `Host` field; null when there is none. */
  host: string | null;
  hostFields: number;
  authorization: string | null;
  authorizationFields: number;
  transferEncoding: string | null;
}

/**
 * Surveys `rawHeaders` (name, value, name, value, … as they came). Node's own `headers` would keep the first of two
 * `Host` fields without a word, which is what request smuggling lives on.
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
    // The length sorts out nearly every field before its letters are looked at.
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
