import type { DrillText } from '../drill.ts';
import { CLIENT_DRILLS } from './clients.ts';
import { DOMAIN_DRILLS } from './domains.ts';

const KEY = '-H "Authorization: Bearer {key}"';

const PROJECT_DRILLS: readonly DrillText[] = [
  {
    id: 'locked-out',
    title: 'Everything has answered 401 since lunch',
    subject: 'api',
    teaches: 'What a 401 says about a key',
    place: 'project',
    problems: [{ kind: 'revoked key' }],
    story:
      '“Until noon, everything worked. Since lunch, every request from the shop has been getting a 401. We changed nothing. Somebody was tidying up the settings, but that was only about old keys.”',
    command: `curl -i "{url}/pets?limit=1" ${KEY}`,
    causes: [
      {
        id: 'limit-used-up',
        text: 'The request limit is exhausted.',
        why: 'A limit answers 429 with Retry-After. This is 401.',
      },
      { id: 'banned', text: 'The API key is banned.', why: 'A banned key gets 429 with the code api_key_banned.' },
      { id: 'key-revoked', text: 'The API key was revoked.' },
      {
        id: 'header-lost',
        text: 'A proxy removes the header Authorization.',
        why: 'Traffic shows the header in the request that arrived.',
      },
    ],
    hints: [
      'What does the body of the 401 say about the key?',
      'List the keys of the practice project: `vivarium key list drill`. In the window: Keys and limits.',
      'The key in the command begins with the same characters as one of them. What does its row say?',
    ],
    task: 'Create a key, and send a request with it that is answered with 200:',
    taskCommand: 'vivarium key create drill',
    fix: { kind: 'answered', withNewKey: true },
    explanation:
      'The key was revoked. Retrying after a 401 does not help: a client should stop and report which key it used.',
  },
  {
    id: 'bad-gateway',
    title: '502 since the move',
    subject: 'http',
    teaches: 'Which part answers with a 502, and where to look',
    place: 'project',
    problems: [{ kind: 'dead target' }],
    story:
      '“They say the move at the weekend went well. The name is right, the certificate is right, but every page is 502 Bad Gateway. The server team says that no requests arrive.”',
    command: `curl -i "{url}/pets?limit=1" ${KEY}`,
    causes: [
      {
        id: 'dns-old',
        text: 'DNS still leads to the old server.',
        why: 'The request arrives at the right place: Traffic shows it. It fails after that.',
      },
      {
        id: 'app-crashed',
        text: 'The application answers with an error.',
        why: 'Then the application would answer. Traffic shows what answered: the proxy.',
      },
      {
        id: 'key-invalid',
        text: 'The API key is not valid.',
        why: 'That is a 401. A gateway answers 502 if it gets no valid answer from its upstream.',
      },
      { id: 'target-dead', text: 'The project’s target is an address where nothing listens.' },
    ],
    hints: [
      'Open the request in Traffic. Which stage answered, and what does the body say?',
      'The proxy forwards requests to the project’s target: `vivarium project get drill`. In the window: General.',
      'Does anything listen at the target’s port?',
    ],
    task: 'Give the project a target that answers, such as the built-in API, and send a request that gets a 200:',
    taskCommand: 'vivarium project update drill --target api',
    fix: { kind: 'answered' },
    explanation:
      'The target of the project was http://127.0.0.1:1, where nothing listens. A gateway that can’t reach its upstream answers 502 (RFC 9110 §15.6.3).',
  },
];

const ALL = [...CLIENT_DRILLS, ...PROJECT_DRILLS, ...DOMAIN_DRILLS];

/** From easy to hard. */
const ORDER = [
  'hammering',
  'locked-out',
  'bad-gateway',
  'hanging',
  'record-is-there',
  'old-shop',
  'no-padlock',
  'date-for-a-wait',
  'twice',
  'lent-name',
  'old-client',
  'issuance-stopped',
];

export const DRILLS: readonly DrillText[] = ORDER.flatMap((id) => ALL.filter((drill) => drill.id === id));
