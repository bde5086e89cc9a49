import type { DrillText } from '../drill.ts';

const KEY = '-H "Authorization: Bearer {key}"';

/** Drills about how a client handles an answer, or a missing one. */
export const CLIENT_DRILLS: readonly DrillText[] = [
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
    causes: [
      {
        id: 'key-invalid',
        text: 'The API key is no longer valid.',
        why: 'The first requests were answered with 200. An invalid key gets 401.',
      },
      {
        id: 'no-wait',
        text: 'The limit per minute is exhausted, and the client doesn’t wait as long as Retry-After says.',
      },
      {
        id: 'overloaded',
        text: 'The API is overloaded.',
        why: 'An overloaded server answers 503, or late. These answers come immediately, and their X-RateLimit-Remaining counts down.',
      },
      {
        id: 'wrong-address',
        text: 'The script uses an old address.',
        why: 'The address is right: the first requests were answered with 200.',
      },
    ],
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
    causes: [
      {
        id: 'field-missing',
        text: 'The refusal has no Retry-After.',
        why: 'It has one: look at the head of the answer with 429.',
      },
      { id: 'date', text: 'Retry-After is a date, and the client reads a number.' },
      {
        id: 'clock-wrong',
        text: 'The client’s clock is wrong.',
        why: 'A wrong clock makes the wait too long or too short. NaN comes from text that is not a number.',
      },
      {
        id: 'too-long',
        text: 'Retry-After is too large for a timer.',
        why: 'Then it would be a number of more than 24 days. Read the field.',
      },
    ],
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
    causes: [
      {
        id: 'name-unknown',
        text: 'The hostname can’t be resolved.',
        why: 'That fails with an error within seconds. Here a connection was made: Traffic shows the request.',
      },
      {
        id: 'refused',
        text: 'Nothing listens at the port.',
        why: 'The system refuses such a connection immediately. Here the connection is made.',
      },
      { id: 'no-answer', text: 'The server accepts the request and never answers, and the client has no time limit.' },
      {
        id: 'slow-line',
        text: 'The line is slow.',
        why: 'Then bytes would arrive, a few at a time. Traffic shows that none arrived.',
      },
    ],
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
    teaches: 'What a 500 says about the request, and what it doesn’t',
    place: 'project',
    problems: [{ kind: 'break', entry: 'api.error-after-commit', at: 'project', method: 'POST' }],
    story:
      '“The API answers 500 when we add a pet, so our client sends it once more, as a good client does. In the end it reports a failure. But the pet is in the list, several times.”',
    command: `curl -i "{url}/pets" ${KEY} -H "Content-Type: application/json" -d "{\\"name\\":\\"Rex\\",\\"categoryId\\":1}"`,
    causes: [
      {
        id: 'two-clients',
        text: 'Two clients send the same pet.',
        why: 'Traffic shows one client and its retries.',
      },
      {
        id: 'cached',
        text: 'The list comes from a cache.',
        why: 'A cache repeats old answers. It doesn’t create pets, and each of these has its own id.',
      },
      {
        id: 'id-lost',
        text: 'The API assigns the same id twice.',
        why: 'Compare the ids in the list: they differ.',
      },
      { id: 'done-before-failing', text: 'The pet is added before the answer fails, and each retry adds another.' },
    ],
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
    causes: [
      {
        id: 'untrusted',
        text: 'The client doesn’t trust the root.',
        why: 'With an untrusted root, the client itself refuses, and says “certificate”. Here the server ends the handshake.',
      },
      { id: 'http2-only', text: 'The server speaks only HTTP/2, and the client offers only HTTP/1.1.' },
      {
        id: 'expired',
        text: 'The certificate has expired.',
        why: 'Then the browser would refuse it too. Look at its dates under Certificates.',
      },
      {
        id: 'wrong-name',
        text: 'The certificate is for another name.',
        why: 'Then the browser would refuse it too.',
      },
    ],
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
];
