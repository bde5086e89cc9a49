import type { BreakEntry } from '../../contract/breaks.ts';

type Told = Pick<BreakEntry, 'title' | 'cause' | 'remedy'> &
  Partial<Pick<BreakEntry, 'symptoms' | 'parameters' | 'selectors' | 'at'>>;

const entry = (name: string, told: Told): BreakEntry => ({
  id: `machine.${name}`,
  family: 'machine',
  symptoms: {},
  selectors: [],
  parameters: [],
  ...told,
});

/**
 * This machine, for drills of the doctor. Nothing of it is changed: four are done to Vivarium itself, for all to see;
 * three are in what the doctor finds, and nowhere else (`probe`). Its evidence is that of
 * `test/integration/engine/broken-machine.test.ts`; “…” stands for what differs.
 */
export const MACHINE_ENTRIES: readonly BreakEntry[] = [
  entry('port-taken', {
    title: 'A port is taken',
    cause:
      'Another program listens where an ACME client wants to answer the CA (`acmeHttpPort`). Here Vivarium itself does, at 127.0.0.1 and ::1. Its own ports stay as they are: to see those taken, start a second Vivarium.',
    remedy: 'Find the program that holds the port, and stop it or choose another port.',
    symptoms: {
      node: 'listen EADDRINUSE: address already in use …',
      doctor:
        'failed: Port …, where ACME clients answer the CA, is held by …, this Vivarium: no client can answer there.',
    },
  }),
  entry('root-gone', {
    title: 'The root is gone from a store',
    cause:
      'A trust store was reset, or a browser has a new profile. No store is touched: the doctor alone sees every store that has the root without it.',
    remedy:
      'Trust the root there again: `vivarium ca trust`. Open the page once: a store that has it may be one that is not read.',
    at: 'probe',
    symptoms: { doctor: 'warning: … does not have the root any longer.' },
  }),
  entry('resolver-gone', {
    title: 'The resolver is gone',
    cause:
      'The server that verification and CAA ask (the setting `resolver`) is down. Here it is port 1, where none listens.',
    remedy: 'Start that server, or choose Vivarium’s own: `vivarium settings update --resolver local`.',
    symptoms: { doctor: 'failed: 127.0.0.1:1, the setting resolver, gives no answer: …' },
  }),
  entry('disk-full', {
    title: 'The disk is full',
    cause:
      'There is no room for what is written. Here the disk stays as it is: Vivarium’s database may grow no more, and refuses what does not fit.',
    remedy: 'Free some space; nothing is lost, and what was refused can be repeated.',
    symptoms: { doctor: 'failed: The database has all the room at … that it may have: it can’t grow.' },
  }),
  entry('upstream-dead', {
    title: 'The upstream is dead',
    cause:
      'The server behind a project is down. Here the project leads to port 1 of its machine, where none listens; the server itself runs on.',
    remedy: 'Start the server, and compare its port with that of the project.',
    selectors: ['hostname'],
    symptoms: { node: '502', doctor: 'warning: Nothing is listening at the upstream …' },
  }),
  entry('clock-skewed', {
    title: 'The machine’s clock is wrong',
    cause:
      'After a long sleep or with an empty battery, a machine is days behind. Its clock is not touched: the doctor alone sees another time.',
    remedy: 'Set the date, and turn network time on.',
    at: 'probe',
    symptoms: { doctor: 'failed: But the root was made at …, which is in the future.' },
    parameters: [{ name: 'days', description: 'days behind', default: 3, min: 1, max: 3_650 }],
  }),
  entry('hosts-line', {
    title: 'A line of the hosts file is in the way',
    cause:
      'A line from an old project leads the hostname to another machine, whatever DNS says. The file is not touched: the doctor alone sees line 1 of it lead to 192.0.2.1.',
    remedy: 'Remove the line, and look for the hostname in the whole file.',
    selectors: ['hostname'],
    at: 'probe',
    symptoms: {
      doctor:
        'failed: The system resolves HOST to 192.0.2.1, as line 1 of … says. That is not this machine: requests and API keys go there.',
    },
  }),
];
