import type { Change } from '../../../connection/connection.svelte.ts';
import { describeFailure } from '../../../connection/failure.ts';
import { ConnectionLostError, type Client } from '../../../connection/transport.ts';
import type { ChangeSource } from '../../../connection/live-query.svelte.ts';
import { type DnsAnswer, type DnsQuestion, formatQuestion } from './dig.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';

interface QuestionValues extends Record<string, unknown>, DnsQuestion {}

export interface DnsQueriesOptions {
  client: Client;
  changes: ChangeSource;
  /** Whether the resolver is Vivarium's own. Other resolvers are queried only on request. */
  usesOwnServer: () => boolean;
}

/**
 * DNS queries. An answer from Vivarium's own server stays current: the query is repeated when zones or records change
 * and when a propagating change becomes visible.
 */
export class DnsQueries {
  readonly form: Form<QuestionValues, DnsAnswer>;
  answer = $state.raw<DnsAnswer | undefined>(undefined);
  /** The reason why the last refresh failed. */
  failure = $state<string | undefined>(undefined);
  /** Whether its zone has been removed since it was asked first. */
  isGone = $state(false);
  #asked: DnsQuestion | null = null;
  #attempt = 0;
  /** A query from a link, before there was a connection. */
  #waiting: DnsQuestion | null = null;
  readonly #options: DnsQueriesOptions;
  readonly #unsubscribe: () => void;

  constructor(options: DnsQueriesOptions) {
    this.#options = options;
    this.form = new Form<QuestionValues, DnsAnswer>({
      values: { name: '', type: 'A' },
      submit: (question) => options.client.dns.query(question),
    });
    this.#unsubscribe = options.changes.subscribe((change) => {
      if (this.#waiting !== null) void this.askFor(this.#waiting);
      else if (CONCERNING.has(change.type) && options.usesOwnServer()) void this.#askAgain();
    });
  }

  async ask(): Promise<DnsAnswer | undefined> {
    const { name, type } = this.form.values;
    this.#attempt += 1;
    this.failure = undefined;
    const answer = await this.form.submit();
    if (answer === undefined) return undefined;
    this.#asked = { name, type };
    this.isGone = false;
    this.answer = answer;
    return answer;
  }

  askOnceConnected(question: DnsQuestion): void {
    this.form.reset({ ...question });
    if (this.#options.changes.following) void this.ask();
    else this.#waiting = question;
  }

  async askFor(question: DnsQuestion): Promise<DnsAnswer | undefined> {
    this.#waiting = null;
    this.form.reset({ ...question });
    return await this.ask();
  }

  close(): void {
    this.#unsubscribe();
  }

  async #askAgain(): Promise<void> {
    const asked = this.#asked;
    if (asked === null) return;
    this.#attempt += 1;
    const attempt = this.#attempt;
    try {
      const answer = await this.#options.client.dns.query(asked);
      if (attempt !== this.#attempt) return;
      this.failure = undefined;
      this.isGone = answer.rcode === 'REFUSED' && (this.isGone || this.answer?.rcode !== 'REFUSED');
      this.answer = answer;
    } catch (error) {
      if (attempt !== this.#attempt || error instanceof ConnectionLostError) return;
      this.failure = `${formatQuestion(asked)} could not be queried again: ${describeFailure(error)}`;
    }
  }
}

const CONCERNING: ReadonlySet<Change['type']> = new Set([
  'everything',
  'zones.changed',
  'records.changed',
  'projects.changed',
  'settings.changed',
]);
