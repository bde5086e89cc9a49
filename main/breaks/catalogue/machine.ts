import type { BreakEntry } from '../../contract/breaks.ts';
import { entryOf } from './entry.ts';

const entry = entryOf('machine', []);

/**
 * Faults of this machine for practising with the doctor. The machine itself is not changed: four faults affect
 * Vivarium, and three affect only the doctor's evidence (`probe`). The symptoms, in which “…” replaces variable parts,
 * are tested by `test/integration/engine/breaks/broken-machine.test.ts`.
 */
export const MACHINE_ENTRIES: readonly BreakEntry[] = [
  entry('port-taken', {
    title: 'A port is taken',
    cause:
      'Another program listens on the port where an ACME client must answer the CA (`acmeHttpPort`). Here Vivarium itself takes the port, on 127.0.0.1 and ::1. Vivarium’s own ports are not affected: to see those taken, start a second Vivarium.',
    remedy: 'Find the program that holds the port, and stop it or choose another port.',
    symptoms: {
      node: 'listen EADDRINUSE: address already in use …',
      doctor:
        'failed: Port …, where ACME clients answer the CA, is held by …, this Vivarium: no client can answer there.',
    },
  }),
  entry('root-gone', {
    title: 'The root is missing from a store',
    cause:
      'A trust store was reset, or a browser has a new profile. No store is changed: only the doctor reports the root as missing from every store that has it.',
    remedy:
      'Trust the root there again: `vivarium ca trust`. Then open the page: the browser may use a different store from the one that has the root.',
    at: 'probe',
    symptoms: { doctor: 'warning: … no longer has the root.' },
  }),
  entry('resolver-gone', {
    title: 'The resolver is down',
    cause:
      'The server that verification and CAA checks query (the setting `resolver`) is down. Here the setting is port 1, where nothing listens.',
    remedy: 'Start that server, or choose Vivarium’s own: `vivarium settings update --resolver local`.',
    symptoms: { doctor: 'failed: 127.0.0.1:1, the setting resolver, gives no answer: …' },
  }),
  entry('disk-full', {
    title: 'The disk is full',
    cause:
      'The disk has no room for new data. Here the disk is not changed: Vivarium’s database must not grow, and refuses data that does not fit.',
    remedy: 'Free some space; nothing is lost, and refused calls can be repeated.',
    symptoms: { doctor: 'failed: The database at … has reached its size limit and can’t grow.' },
  }),
  entry('upstream-dead', {
    title: 'The upstream is down',
    cause:
      'The server behind a project is down. Here the project’s target is port 1 of the same machine, where nothing listens; the server itself keeps running.',
    remedy: 'Start the server, and check that its port is the one in the project’s target.',
    selectors: ['hostname'],
    symptoms: { node: '502', doctor: 'warning: Nothing is listening at …' },
  }),
  entry('clock-skewed', {
    title: 'The machine’s clock is wrong',
    cause:
      'After a long sleep or with an empty battery, a machine’s clock can be days behind. The clock is not changed: only the doctor sees the wrong time.',
    remedy: 'Set the date, and turn network time on.',
    at: 'probe',
    symptoms: { doctor: 'failed: But the root was made at …, which is in the future.' },
    parameters: [{ name: 'days', description: 'days behind', default: 3, min: 1, max: 3_650 }],
  }),
  entry('hosts-line', {
    title: 'A line of the hosts file interferes',
    cause:
      'A line from an old project maps the hostname to another machine, regardless of DNS. The file is not changed: only the doctor sees a first line that maps the hostname to 192.0.2.1.',
    remedy: 'Remove the line, and search the whole file for the hostname.',
    selectors: ['hostname'],
    at: 'probe',
    symptoms: {
      doctor:
        'failed: The system resolves HOST to 192.0.2.1, according to line 1 of …. That is not this machine: requests and API keys go there.',
    },
  }),
];
