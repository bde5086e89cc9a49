import type { DrillText } from '../drill.ts';

const KEY = '-H "Authorization: Bearer {key}"';

/** Drills about the settings of a project. */
export const PROJECT_DRILLS: readonly DrillText[] = [
  {
    id: 'locked-out',
    title: 'Everything is 401 since lunch',
    subject: 'api',
    teaches: 'How to tell a key that is revoked from one that is limited, banned or another project’s',
    place: 'project',
    troubles: [{ kind: 'revoked key' }],
    story:
      '“At noon everything worked. Since lunch, each request of the shop gets 401. We changed nothing. Somebody was tidying up in the settings, but that was about old keys.”',
    command: `curl -i "{url}/pets?limit=1" ${KEY}`,
    causes: [
      {
        id: 'limit-used-up',
        text: 'The limit of requests is used up.',
        why: 'A limit answers 429 with Retry-After. This is 401.',
      },
      { id: 'banned', text: 'The API key is banned.', why: 'A banned key gets 429 with the code api_key_banned.' },
      { id: 'key-revoked', text: 'The API key was revoked.' },
      {
        id: 'header-lost',
        text: 'A proxy takes the field Authorization away.',
        why: 'Traffic shows the field in the request, as it arrived.',
      },
    ],
    hints: [
      'What does the body of the 401 say about the key?',
      'List the keys of the practice project: `vivarium keys list drill`. In the window: Keys and limits.',
      'The key in the command begins with the same characters as one of them. What does its row say?',
    ],
    task: 'Create a key, and send a request with it that is answered with 200:',
    taskCommand: 'vivarium keys create drill',
    mending: { kind: 'answered', withNewKey: true },
    explanation: 'The key was revoked. Retrying a 401 helps nothing: a client stops, and says which key it used.',
  },
  {
    id: 'bad-gateway',
    title: '502 since the move',
    subject: 'http',
    teaches: 'Which part answers with 502, and where to look then',
    place: 'project',
    troubles: [{ kind: 'dead target' }],
    story:
      '“The weekend’s move went well, they say. The name is right, the certificate is right, and every page is 502 Bad Gateway. The server people say that nothing arrives at their side.”',
    command: `curl -i "{url}/pets?limit=1" ${KEY}`,
    causes: [
      {
        id: 'dns-old',
        text: 'DNS still leads to the old server.',
        why: 'The request arrives at the right place: Traffic has it. It fails behind that.',
      },
      {
        id: 'app-crashed',
        text: 'The application answers with an error.',
        why: 'An error of the application comes from the application. See in Traffic who answered: the proxy.',
      },
      {
        id: 'key-invalid',
        text: 'The API key is not valid.',
        why: 'That is 401. A gateway answers 502 where it gets no valid answer itself.',
      },
      { id: 'target-dead', text: 'The project’s target is an address where nothing listens.' },
    ],
    hints: [
      'Open the request in Traffic: which stage answered, and what does the body say?',
      'The proxy passes requests to the target of the project: `vivarium projects get drill`. In the window: General.',
      'Does anything listen at the target’s port?',
    ],
    task: 'Send a request that is answered with 200, once the project has a target that answers, such as the built-in API:',
    taskCommand: 'vivarium projects update drill --target api',
    mending: { kind: 'answered' },
    explanation:
      'The target of the project was http://127.0.0.1:1, where nothing listens. A gateway that can’t reach what is behind it answers 502 (RFC 9110 §15.6.3).',
  },
];
