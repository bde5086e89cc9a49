import { z } from 'zod';
import { call } from './base.ts';
import { readHttpFile } from './http-file.ts';
import { projectReference } from './values.ts';

/** The maximum length of a project's requests, in characters. */
export const REQUESTS_TEXT_MAX = 512 * 1024;
export const REQUESTS_MAX = 500;

const ofProject = { projectId: projectReference };

/** An `.http` text without secrets of keys. */
export const requestsText = z
  .string()
  .max(REQUESTS_TEXT_MAX)
  .superRefine((value, context) => {
    const secret = value.split('\n').findIndex((line) => /viv_[0-9A-Za-z]{32}/.test(line));
    if (secret !== -1) {
      const message = `has the secret of an API key in line ${secret + 1}; write {{key}} in its place`;
      context.addIssue({ code: 'custom', message });
    }
    if (readHttpFile(value).requests.length > REQUESTS_MAX) {
      context.addIssue({ code: 'custom', message: `must have at most ${REQUESTS_MAX} requests` });
    }
  })
  .meta({ examples: ['GET {{baseUrl}}/pets?status=sold'] });

export const requests = {
  /** `{{baseUrl}}` is the project's base address, `{{key}}` the key it is sent with. The history is newest first. */
  get: call(
    'The saved requests of a project and the last ones sent with api.send, as .http texts',
    z.object({ saved: z.string(), history: z.string() }),
    ofProject,
  ),
  save: call(
    'Replace the saved requests of a project with an .http text, which must not contain key secrets',
    z.object({ saved: z.string() }),
    { ...ofProject, text: requestsText },
  ),
  forget: call('Delete the history of the requests sent to a project; saved ones stay', z.object({}), ofProject),
};
