import type { WrittenDrill } from '../drill.ts';

const KEY = '-H "Authorization: Bearer {key}"';

/** Drills about a project without a domain: its key and target, and how a client handles an answer or a missing one. */
export const PROJECT_DRILLS: readonly WrittenDrill[] = [
  {
    id: 'hammering',
    title: 'The client hammers on after a 429',
    subject: 'limits',
    teaches: 'What a 429 asks of a client',
    place: 'project',
    problems: [{ kind: 'limits', perMinute: 5, perDay: 1_000 }],
    story:
      '“Our stock script worked all week. Now that we have more products, it ends with 429 in the middle. We start it again at once, and again, and it never gets through. Is the API broken?”',
    command: `curl -i "{url}/pets?limit=[1-8]" ${KEY}`,
    causes: {
      'key-invalid': [
        'The API key is no longer valid.',
        'The first requests were answered with 200. An invalid key gets 401.',
      ],
      'no-wait': ['The limit per minute is exhausted, and the client doesn’t wait as long as Retry-After says.'],
      overloaded: [
        'The API is overloaded.',
        'An overloaded server answers 503, or late. These answers come immediately, and their X-RateLimit-Remaining counts down.',
      ],
      'wrong-address': [
        'The script uses an old address.',
        'The address is right: the first requests were answered with 200.',
      ],
    },
    hints: [
      'Compare the head of the first answer with that of the last. Which fields count down?',
      'An answer with 429 has the field Retry-After, in seconds. How long did the client wait before its next request?',
      'A client that waits gets an answer. curl waits by itself with `--retry 2`.',
    ],
    task: 'Be a better client: send requests until one is refused, wait as long as its Retry-After says, and send it again. With --retry, curl waits by itself:',
    taskCommand: `curl -i --retry 2 "{url}/pets?limit=[1-3]" ${KEY}`,
    fix: { kind: 'waited' },
    explanation:
      'The practice project has a limit of 5 requests a minute. Requests before the end of the minute are refused, and a client that keeps sending them is banned.',
  },
  {
    id: 'date-for-a-wait',
    title: 'The client waits for NaN seconds',
    subject: 'api',
    teaches: 'How to find where a NaN comes from',
    place: 'project',
    problems: [
      { kind: 'break', entry: 'api.retry-after-http-date', at: 'project', nth: 2, parameters: { seconds: 3 } },
    ],
    story:
      '“We do wait! Our client reads Retry-After, and waits that many seconds before it tries again. The log says: waiting NaN s. Then it sends again at once, and is refused again.”',
    command: `curl -i "{url}/pets?limit=[1-2]" ${KEY}`,
    causes: {
      'field-missing': ['The refusal has no Retry-After.', 'It has one: look at the head of the answer with 429.'],
      date: ['Retry-After is a date, and the client reads a number.'],
      'clock-wrong': [
        'The client’s clock is wrong.',
        'A wrong clock makes the wait too long or too short. NaN comes from text that is not a number.',
      ],
      'too-long': [
        'Retry-After is too large for a timer.',
        'Then it would be a number of more than 24 days. Read the field.',
      ],
    },
    hints: [
      'What becomes NaN in a program? Text that it parses as a number.',
      'Read Retry-After in the answer with 429 character by character.',
      'RFC 9110 §10.2.3 permits two forms: seconds, or a date. Number("Wed, 21 Oct …") is NaN.',
    ],
    task: 'Send requests until one is refused, and send the next one after the date in its Retry-After, not earlier. curl reads both forms:',
    taskCommand: `curl -i --retry 2 "{url}/pets?limit=[1-2]" ${KEY}`,
    fix: { kind: 'waited' },
    explanation:
      'Every second request was refused with a Retry-After that is a date, three seconds ahead. A client reads both forms, and compares a date with the Date of the same answer.',
  },
  {
    id: 'hanging',
    title: 'The import hangs forever',
    subject: 'connection',
    teaches: 'How to tell silence from slowness',
    place: 'project',
    problems: [{ kind: 'break', entry: 'connection.black-hole', at: 'project', parameters: { seconds: 600 } }],
    story:
      '“The nightly import has been running since two o’clock. It isn’t slow: it does nothing at all. No error, no progress, and the process is still there.”',
    command: `curl -i --max-time 60 "{url}/pets?limit=1" ${KEY}`,
    causes: {
      'name-unknown': [
        'The hostname can’t be resolved.',
        'That fails with an error within seconds. Here a connection was made: Traffic shows the request.',
      ],
      refused: [
        'Nothing listens at the port.',
        'The system refuses such a connection immediately. Here the connection is made.',
      ],
      'no-answer': ['The server accepts the request and never answers, and the client has no time limit.'],
      'slow-line': ['The line is slow.', 'Then bytes would arrive, a few at a time. Traffic shows that none arrived.'],
    },
    hints: [
      'Look at the request in Traffic while it runs: has it arrived, and how many bytes does its answer have?',
      'The connection is made and the request arrives, so names and ports are right. What is missing?',
      'Most clients wait forever by default. Which option makes curl give up after three seconds?',
    ],
    task: 'Make the client give up by itself within 30 seconds of its request:',
    taskCommand: `curl --max-time 3 "{url}/pets?limit=1" ${KEY}`,
    fix: { kind: 'gave up', withinMs: 30_000 },
    explanation:
      'The server accepted each request and sent nothing back, as with a deadlock or a firewall that dropped the connection. The client can’t retry until it gives up.',
  },
  {
    id: 'twice',
    title: 'Every pet appears twice',
    subject: 'api',
    teaches: 'What a 500 says about the request, and what not',
    place: 'project',
    problems: [{ kind: 'break', entry: 'api.error-after-commit', at: 'project', method: 'POST' }],
    story:
      '“The API answers 500 when we add a pet, so our client sends it once more, as a good client does. In the end it reports a failure. But the pet is in the list, several times.”',
    command: `curl -i "{url}/pets" ${KEY} -H "Content-Type: application/json" -d "{\\"name\\":\\"Rex\\",\\"categoryId\\":1}"`,
    causes: {
      'two-clients': ['Two clients send the same pet.', 'Traffic shows one client and its retries.'],
      cached: [
        'The list comes from a cache.',
        'A cache repeats old answers. It doesn’t create pets, and each of these has its own id.',
      ],
      'id-lost': ['The API assigns the same id twice.', 'Compare the ids in the list: they differ.'],
      'done-before-failing': ['The pet is added before the answer fails, and each retry adds another.'],
    },
    hints: [
      'Add a pet once. Then request the list: remove everything after the key from the command.',
      'A 500 means that the answer failed. Does it mean that nothing was done?',
      'POST is not idempotent (RFC 9110 §9.2.2): a client may not repeat it blindly.',
    ],
    task: 'Add a pet and get a 500. Then check whether the pet exists before you send anything else:',
    taskCommand: `curl "{url}/pets?limit=100" ${KEY}`,
    fix: { kind: 'checked first' },
    explanation:
      'Every POST was carried out, and its answer was replaced with a 500. A client that checks first, or sends an idempotency key where the API supports them, adds one pet.',
  },
  {
    id: 'old-client',
    title: 'The browser gets through, the old client doesn’t',
    subject: 'tls',
    teaches: 'How to see who ends a TLS handshake, and why',
    place: 'project',
    problems: [{ kind: 'break', entry: 'tls.h2-only', at: 'project' }],
    story:
      '“Since they updated the load balancer, our client can’t connect over HTTPS. The browser can. We checked the certificate: it is valid.”',
    command: `curl -i --http1.1 --cacert "{ca}" "{secureUrl}/pets?limit=1" ${KEY}`,
    causes: {
      untrusted: [
        'The client doesn’t trust the root.',
        'With an untrusted root, the client itself refuses, and says “certificate”. Here the server ends the handshake.',
      ],
      'http2-only': ['The server speaks only HTTP/2, and the client offers only HTTP/1.1.'],
      expired: [
        'The certificate has expired.',
        'Then the browser would refuse it too. Look at its dates under Certificates.',
      ],
      'wrong-name': ['The certificate is for another name.', 'Then the browser would refuse it too.'],
    },
    hints: [
      'Add `-v` to the command. Who ends the handshake, and with which alert?',
      'Look for ALPN in the output of `curl -v`: which protocols does the client offer?',
      'Omit `--http1.1`. What does the client offer then, and what does the server choose?',
    ],
    task: 'Get an answer with a client that offers what the server speaks:',
    taskCommand: `curl -i --http2 --cacert "{ca}" "{secureUrl}/pets?limit=1" ${KEY}`,
    fix: { kind: 'over HTTP/2' },
    explanation:
      'The server accepted only HTTP/2, as many gRPC servers do, and answered handshakes without h2 with the alert no_application_protocol (RFC 7301).',
  },
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
    causes: {
      'limit-used-up': ['The request limit is exhausted.', 'A limit answers 429 with Retry-After. This is 401.'],
      banned: ['The API key is banned.', 'A banned key gets 429 with the code api_key_banned.'],
      'key-revoked': ['The API key was revoked.'],
      'header-lost': [
        'A proxy removes the header Authorization.',
        'Traffic shows the header in the request that arrived.',
      ],
    },
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
    causes: {
      'dns-old': [
        'DNS still leads to the old server.',
        'The request arrives at the right place: Traffic shows it. It fails after that.',
      ],
      'app-crashed': [
        'The application answers with an error.',
        'Then the application would answer. Traffic shows what answered: the proxy.',
      ],
      'key-invalid': [
        'The API key is not valid.',
        'That is a 401. A gateway answers 502 if it gets no valid answer from its upstream.',
      ],
      'target-dead': ['The project’s target is an address where nothing listens.'],
    },
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
